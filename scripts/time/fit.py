#!/usr/bin/env python3
"""Fits the coefficients of kernel times (profile/time/) on public measurements and writes them to devices/time/.

    python scripts/time/fit.py DATA [--program build/release/bin/symprof_time_rows] [--only DEVICE:CLASS]

DATA is a folder of CSV files (README.md). The formulas are the program's own: symprof_time_rows evaluates them. Rows
are drawn with the seed below; docs/evaluation/time_accuracy.md, which judge.py writes, judges on rows that were not drawn. numpy, scipy and
pandas are needed."""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy
from scipy.optimize import least_squares
from scipy.stats import beta
from scipy.stats import t as student

import sources

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SEED = 17
FOLDS = 10
# How many rows a fit draws: those of a class, and beside them of products that take long, since clocks fall there.
DRAWN = {"product_16bit": 570, "product_fp32": 300, "attention_flash": 600, "attention_newer": 600,
         "convolution_fp32": 300, "convolution_16bit": 150, "recurrent_16bit": 60, "elementwise": 160, "layer_norm": 300, "softmax": 300}
# Where rows are so far from their neighbors that more of them narrow the intervals (judge_more_rows.py).
DRAWN_OF = {("t4", "product_fp32"): 4800}
LARGE_FLOPS, LARGE_DRAWN = 1e12, 30
SPREAD = {"product_16bit"}  # Drawn evenly among sizes; rows of other sources lie unevenly, few of them large.
FEWEST_FOR_ALL = 150
# Boards with the same chip, or nearly: what one has no rows of it takes from the others, without their residuals.
SIBLINGS = {"a100-80g": ["a100-80g-pcie"], "a100-40g": ["a100-40g-pcie", "a100-80g"],
            "a100-80g-pcie": ["a100-80g"], "a100-40g-pcie": ["a100-80g"], "h100": ["h200"],
            "h100-pcie": ["h200", "h100"], "v100": ["v100-32g-pcie"], "v100-32g-pcie": ["v100"]}
# As many multiprocessors at the same clock: residuals and interval serve as well (compare_operators.py --device h100).
SAME_CHIP = {("h100", "h200")}
# Of these, calls of PyTorch itself were recorded on an H200 (fit_h200.py), which serve better than public rows.
RECORDED = {("h100", "product_fp32"), *((device, time_class) for device in ("h100", "h200")
                                         for time_class in ("product_16bit", "attention_newer"))}
SIBLING_HALF_WIDTH = 0.15  # Another board's clocks and memory, beside what the sibling's rows need.


class Program:
    """The program's formula of one class on one device, evaluated on rows."""

    def __init__(self, program, rows, command="fit"):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "rows.csv"
        rows.work.to_csv(path, index=False)
        self.process = subprocess.Popen(
            [program, command, ROOT / "devices" / f"{rows.device}.json", rows.time_class, path], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.coefficients = []
        while line := self.process.stdout.readline().strip():
            name, *numbers = line.split()
            self.coefficients.append((name, *map(float, numbers)))

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return numpy.array(self.process.stdout.readline().split(), dtype=float)

    def us(self, logs):
        return self.ask(" ".join(repr(float(value)) for value in numpy.exp(logs)))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def fit_coefficients(program, parts, ridge=0.15, begin=None, fixed=None, command="fit"):
    """Coefficients that serve all `parts`, rows of one class: least squares of the logarithm, with little weight on
    outliers, drawn a little towards the formula's start. `begin` is where to look first, by name, `fixed` has those that
    stay."""
    programs = [Program(program, rows, command) for rows in parts]
    rows, fixed = programs[0].coefficients, fixed or {}
    limits = [(fixed[row[0]],) * 2 if row[0] in fixed else row[2:] for row in rows]
    low, high = numpy.log([one[0] for one in limits]) - 1e-9, numpy.log([one[1] for one in limits]) + 1e-9
    start = numpy.log([row[1] for row in rows]).clip(low, high)
    first = numpy.log([(begin or {}).get(row[0], row[1]) for row in rows]).clip(low, high)
    measured = [numpy.log(part.us) for part in parts]

    def distance(logs):
        errors = [numpy.log(one.us(logs)) - us for one, us in zip(programs, measured)]
        return numpy.concatenate([*errors, ridge * (logs - start)])

    found = least_squares(distance, first, bounds=(low, high), loss="soft_l1", f_scale=0.08, diff_step=0.03,
                          max_nfev=60).x
    for one in programs:
        one.close()
    return {row[0]: float(f"{numpy.exp(value):.4g}") for row, value in zip(rows, found)}


def predicted(program, rows, coefficients, command="fit"):
    one = Program(program, rows, command)
    us = one.us(numpy.log(list(coefficients.values())))
    one.close()
    return us


def sizes_of(program, rows, coefficients):
    """Where residuals are looked up, of each row."""
    one = Program(program, rows)
    sizes = one.ask("sizes " + " ".join(map(repr, coefficients.values()))).reshape(len(rows.us), -1)
    one.close()
    return sizes


def judged_lines(program, rows, times, sheet=None):
    """Of each row what the program says with `times` (the JSON of a class); with the data sheet's times `sheet` (a path):
    for another board and campaign."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "times.json").write_text(json.dumps({"classes": {rows.time_class: times}}))
        rows.work.to_csv(folder / "rows.csv", index=False)
        output = subprocess.run(
            [program, "judge", ROOT / "devices" / f"{rows.device}.json", folder / "times.json", rows.time_class,
             folder / "rows.csv", *([sheet] if sheet else [])], text=True, capture_output=True, check=True).stdout
    return [line.split(",") for line in output.splitlines()[1:]]


def judge(program, rows, times, sheet=None):
    """us, low, high, and the limits' names."""
    lines = judged_lines(program, rows, times, sheet)
    return numpy.array([line[:3] for line in lines], dtype=float), [line[3] for line in lines]


def points_of(program, rows, coefficients):
    residuals = numpy.log(rows.us / predicted(program, rows, coefficients))
    sizes = sizes_of(program, rows, coefficients)
    return [[*(round(float(size), 2) for size in one), round(float(residual), 3)]
            for one, residual in zip(sizes, residuals)]


def folds_of(rows):
    """At random, as judged rows are drawn: some have rows of the same sizes (other layouts, measured again) among the
    others, and some have not."""
    folds = numpy.empty(len(rows.us), dtype=int)
    folds[numpy.random.default_rng(SEED).permutation(len(folds))] = numpy.arange(len(folds)) % FOLDS
    return folds


def quantile_of(ratios):
    """What nine of ten are within: all ratios count, each by how likely it is that one (F. E. Harrell, C. E. Davis, A new
    distribution-free quantile estimator, 1982). A single one decides where rows are few, and is chance."""
    count = len(ratios)
    weights = numpy.diff(beta.cdf(numpy.arange(count + 1) / count, 0.9 * (count + 1), 0.1 * (count + 1)))
    return float(f"{weights @ numpy.sort(ratios):.4g}")


def judged_rows(program, rows, times, fold):
    """By how much each row is off, what its width follows from, and its fold: a line of JudgedRow (profile/time/width.h)."""
    values = numpy.array([[line[0], *line[4:]] for line in judged_lines(program, rows, times)], dtype=float)
    errors = numpy.abs(numpy.log(rows.us / values[:, 0]))
    return numpy.column_stack([errors, values[:, 1:], numpy.full(len(errors), fold)])


def cross_validated(program, rows, coefficients, folds, fixed=None, has_points=True):
    """By how much each of the drawn rows is off and what its width follows from, judged by a fit of the other folds,
    coefficients and points. It never sees a row that is judged on."""
    judged = numpy.empty((len(rows.us), 6))
    for fold in numpy.unique(folds):
        out, others = numpy.flatnonzero(folds == fold), rows.part(numpy.flatnonzero(folds != fold))
        of_others = fit_coefficients(program, [others], begin=coefficients, fixed=fixed)
        points = points_of(program, others, of_others) if has_points else []
        judged[out] = judged_rows(program, rows.part(out), {"coefficients": of_others, "interval": 1, "points": points}, fold)
    return judged


def spread_of(program, judged):
    """How the width follows from a call (profile/time/width.h), and each row's error in half widths of what fits the other
    folds."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "judged.csv"
        numpy.savetxt(path, judged, delimiter=",", header="error,prior,deviation,scatter,launch,fold")
        output = subprocess.run([program, "spread", path], text=True, capture_output=True, check=True).stdout.splitlines()
    powers, ratios = (numpy.array(line.split(), dtype=float) for line in output)
    return {name: round(float(power), 3) for name, power in zip(("deviation", "scatter", "launch"), powers)}, ratios


def flops_of(rows):
    work = rows.work
    return 2.0 * work.get("batch", 1) * work.m * work.n * work.k if "m" in work else None


def nearest(points, centers):
    """The place of the nearest center of each point, and its squared distance."""
    squares = (points ** 2).sum(1)[:, None] + (centers ** 2).sum(1) - 2 * points @ centers.T
    return squares.argmin(1), squares.min(1)


def spread(rows, count, random):
    """Places of `count` rows that lie evenly among all sizes, as somebody chooses who measures few: of each of so many
    clusters (Lloyd's, from a random start) the row in its middle. Times have no part in it."""
    points = numpy.log2(1 + rows.work.to_numpy(dtype=float))
    centers = points[random.permutation(len(points))[:count]]
    for _ in range(12):
        of, _ = nearest(points, centers)
        sizes = numpy.bincount(of, minlength=count)
        sums = numpy.stack([numpy.bincount(of, weights=column, minlength=count) for column in points.T], 1)
        centers = numpy.where(sizes[:, None] > 0, sums / numpy.maximum(sizes, 1)[:, None], centers)
    of, distance = nearest(points, centers)
    order = numpy.lexsort((distance, of))
    return order[numpy.unique(of[order], return_index=True)[1]]


def draw(rows, count=None, large=LARGE_DRAWN, seed=SEED):
    """(places of the rows to fit on, places of all others)."""
    count = count or DRAWN_OF.get((rows.device, rows.time_class), DRAWN[rows.time_class])
    count = min(count, len(rows.us) * 6 // 10)
    random = numpy.random.default_rng(seed)
    if rows.time_class in SPREAD and len(rows.us) >= 3 * count:
        drawn = spread(rows, count, random)
    else:
        drawn = random.permutation(len(rows.us))[:count]
    flops = flops_of(rows)
    if flops is not None and rows.time_class == "product_16bit":
        places = numpy.flatnonzero(flops.to_numpy() > LARGE_FLOPS)
        drawn = numpy.union1d(drawn, random.permutation(places)[:large])
    return numpy.sort(drawn), numpy.setdiff1d(numpy.arange(len(rows.us)), drawn)


NEVER, AT_ONCE = 1e-9, 1e9  # `absent` in profile/time/product.cpp
# What the rows say nothing of: 8 bit has none that wait for a single block, TF32 is fitted apart where memory is waited for.
UNKNOWN = {"product_8bit": {"alone": NEVER}, "product_tf32": {"cold": NEVER}}
UNKNOWN_OF_FEW = {"product_tf32": {"alone": NEVER, "store": AT_ONCE}}


def fixed_with(time_class, count):
    """The last two coefficients of products gain nothing where there are few rows (cross-validated on those drawn of an
    H200's): whole waves, and the fastest tile. In TF32 neither do those of blocks and results."""
    fixed = UNKNOWN.get(time_class, {})
    if time_class.startswith("product") and count < FEWEST_FOR_ALL:
        fixed = {"together": 1, "choice": 0.005, **fixed, **UNKNOWN_OF_FEW.get(time_class, {})}
    return fixed


def fit_class(program, rows, drawn, seed=SEED):
    chosen, fixed = rows.part(drawn), fixed_with(rows.time_class, len(drawn))
    coefficients = fit_coefficients(program, [chosen], fixed=fixed)
    points = points_of(program, chosen, coefficients)
    times = {"fitted_on": f"{len(drawn)} of {len(rows.us)} rows of {rows.source}, seed {seed}", "calibrated": True,
             "coefficients": coefficients, "interval": 1, "spread": {}, "points": points}
    if rows.floor_is_host:
        times["floor_is_host"] = True
    times["spread"], ratios = spread_of(program, cross_validated(program, chosen, coefficients, folds_of(chosen), fixed))
    times["interval"] = quantile_of(ratios)
    return times


# Boards of one chip are left out together.
CHIPS = {"a100": ("a100-80g", "a100-80g-pcie", "a100-40g", "a100-40g-pcie"), "hopper": ("h100", "h200", "h100-pcie"),
         "v100": ("v100", "v100-32g-pcie")}


def chip_of(device):
    return next((chip for chip, devices in CHIPS.items() if device in devices), device)


SHEET = "fit_sheet"  # At the clock that a device's power sustains.


def errors_left_out(program, parts, hidden=()):
    """By chip: the logarithms of its rows' times by what coefficients say that were fitted on all other chips' rows. Rows of
    chips in `hidden` have no part in anything."""
    seen = [rows for rows in parts if chip_of(rows.device) not in hidden]
    errors = {}
    for chip in sorted({chip_of(rows.device) for rows in seen}):
        others = [rows for rows in seen if chip_of(rows.device) != chip]
        if not others:
            continue
        coefficients = fit_coefficients(program, others, command=SHEET)
        errors[chip] = numpy.concatenate([numpy.log(rows.us / predicted(program, rows, coefficients, SHEET))
                                          for rows in seen if chip_of(rows.device) == chip])
    return errors


def interval_left_out(errors):
    """What nine of ten rows of a chip that nobody measured are within. A chip is off as a whole (its median), by how much
    few chips can say: Student's t with as many degrees of freedom as there are chips. Around that its rows are off as those
    of other chips are around theirs."""
    if len(errors) < 2:
        return 0.7
    medians = numpy.array([numpy.median(one) for one in errors.values()])
    within = numpy.mean([numpy.quantile(abs(one - numpy.median(one)), 0.9) for one in errors.values()])
    between = student.ppf(0.95, len(medians)) * numpy.sqrt(numpy.mean(medians ** 2))
    return float(f"{numpy.hypot(between, within):.4g}")


def few_rows(parts):
    return [rows.part(draw(rows, 150, 15)[0]) for rows in parts]


def data_sheet_class(program, parts):
    """Coefficients for devices that nobody measured: those that serve all measured ones. The interval is what each chip
    would have needed with the coefficients of the others."""
    few = few_rows(parts)
    times = {"fitted_on": f"{', '.join(rows.device for rows in parts)}: {parts[0].source}, seed {SEED}",
             "calibrated": False, "coefficients": fit_coefficients(program, few, command=SHEET),
             "interval": interval_left_out(errors_left_out(program, few))}
    if parts[0].floor_is_host:
        times["floor_is_host"] = True
    return times


def written(times):
    """Without the coefficients that are not there."""
    known = {name: value for name, value in times["coefficients"].items() if value not in (NEVER, AT_ONCE)}
    return {**times, "coefficients": known}


def compact_class(times, indent):
    times = written(times)
    members = [f'{indent}"{key}": {json.dumps(value)}' for key, value in times.items() if key not in ("points", "in_cache")]
    if times.get("points"):
        points = [json.dumps(point, separators=(",", ":")) for point in times["points"]]
        rows = [f"{indent} " + ",".join(points[start:start + 8]) for start in range(0, len(points), 8)]
        members.append(f'{indent}"points": [\n' + ",\n".join(rows) + "]")
    if "in_cache" in times:
        members.append(f'{indent}"in_cache": {{\n' + compact_class(times["in_cache"], indent + " ") + "}")
    return ",\n".join(members)


def compact(classes):
    """One line for each member of a class and for each 8 points."""
    texts = [f'  "{name}": {{\n{compact_class(times, "   ")}}}' for name, times in sorted(classes.items())]
    return '{\n "classes": {\n' + ",\n".join(texts) + "\n }\n}\n"


def read_classes(path):
    return json.loads(path.read_text())["classes"] if path.exists() else {}


def lent_interval(times):
    """Without the residuals, which are those of the sibling: nine of ten are within them."""
    residuals = numpy.abs([point[-1] for point in times.get("points", [])])
    of_sibling = numpy.quantile(residuals, 0.9) if len(residuals) else times["interval"]
    return round(float(of_sibling) + SIBLING_HALF_WIDTH, 3)


def is_own(times):
    return times["calibrated"] and "lent_by" not in times


def lend_to_siblings(folder):
    """Gives a device the fitted classes of its siblings where it has none: boards of the same chip, or of a related one."""
    own = {path.stem: {name: times for name, times in read_classes(path).items() if is_own(times)}
           for path in folder.glob("*.json")}
    for device, siblings in SIBLINGS.items():
        classes = dict(own.get(device, {}))
        for sibling in siblings:
            for name, times in own.get(sibling, {}).items():
                if name in classes:
                    continue
                classes[name] = {**times, "fitted_on": f"{sibling}: {times['fitted_on']}", "lent_by": sibling}
                if (device, sibling) not in SAME_CHIP:
                    for member in ("in_cache", "spread"):
                        classes[name].pop(member, None)
                    classes[name] |= {"points": [], "calibrated": False, "interval": lent_interval(times)}
        (folder / f"{device}.json").write_text(compact(classes))


def name_in_devices(folder):
    """A device's file names the file with its coefficients."""
    for path in folder.glob("*.json"):
        device = folder.parent / path.name
        if device.exists():
            text = json.loads(device.read_text())
            source = text.pop("source")
            device.write_text(json.dumps({**text, "kernel_times": f"time/{path.name}", "source": source}, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--program", default=ROOT / "build" / "release" / "bin" / "symprof_time_rows")
    parser.add_argument("--only", default="", help="DEVICE:CLASS, either may be left out; others stay as they are")
    given = parser.parse_args()
    only_device, _, only_class = given.only.partition(":")
    folder = ROOT / "devices" / "time"
    folder.mkdir(exist_ok=True)
    by_class, by_device = {}, {}
    for rows in sources.all_rows(given.data):
        by_class.setdefault(rows.time_class, []).append(rows)
        if only_device not in ("", rows.device) or only_class not in ("", rows.time_class):
            continue
        if (rows.device, rows.time_class) in RECORDED:
            continue
        by_device.setdefault(rows.device, {})[rows.time_class] = times = fit_class(given.program, rows, draw(rows)[0])
        print(rows.device, rows.time_class, times["coefficients"], times["interval"], flush=True)
    if only_device in ("", "data_sheet"):
        for time_class, parts in by_class.items():
            if only_class in ("", time_class) and len(parts) > 1:  # One device alone is no data sheet (fit_h200.py has those).
                times = data_sheet_class(given.program, parts)
                by_device.setdefault("data_sheet", {})[time_class] = times
                print("data_sheet", time_class, times["coefficients"], times["interval"], flush=True)
    for device, classes in by_device.items():
        path = folder / f"{device}.json"
        known = read_classes(path)
        for name, times in classes.items():  # campaigns.py writes those.
            if "campaigns" in known.get(name, {}):
                times["campaigns"] = known[name]["campaigns"]
        path.write_text(compact({**(known if given.only else {}), **classes}))
    lend_to_siblings(folder)
    name_in_devices(folder)


if __name__ == "__main__":
    main()
