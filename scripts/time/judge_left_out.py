#!/usr/bin/env python3
"""Judges times of devices that nobody measured: each chip in turn is left out, and takes what serves all others.

    python scripts/time/judge_left_out.py DATA --work FOLDER [--classes product_fp32 …] [--steps]

A chip's boards are left out together (CHIPS in fit.py). Its coefficients are fitted on all other chips' rows, and its
interval is what each of those would have needed with the coefficients of the rest, so that nothing of the chip is in
either. FOLDER/CHIP.json is a data sheet of times without the chip. --steps judges whole steps with those: NeuSight's in fp32
(which judge_steps.py exports, with torch). Prints tables for
docs/evaluation/time.md. numpy, scipy and pandas are needed."""
import argparse
import contextlib
import json
import pathlib
import subprocess
import tempfile

import numpy
import pandas

import fit
import sources

JUDGED, SEED = 2000, 23
SHEET = fit.ROOT / "devices" / "time" / "data_sheet.json"


def sheets_of(program, parts):
    """By chip: the class' times without it, and what the other chips' errors are."""
    few, known = fit.few_rows(parts), {}

    def without(*hidden):
        key = frozenset(hidden)
        if key not in known:
            seen = [rows for rows in few if fit.chip_of(rows.device) not in hidden]
            known[key] = fit.fit_coefficients(program, seen, command=fit.SHEET) if seen else None
        return known[key]

    def errors_of(chip, coefficients):
        return numpy.concatenate([numpy.log(rows.us / fit.predicted(program, rows, coefficients, fit.SHEET))
                                  for rows in few if fit.chip_of(rows.device) == chip])

    chips = sorted({fit.chip_of(rows.device) for rows in parts})
    for chip in chips:
        others = {one: errors_of(one, without(chip, one)) for one in chips if one != chip and without(chip, one)}
        if without(chip):
            times = {"fitted_on": f"all but {chip}", "calibrated": False, "coefficients": without(chip),
                     "interval": fit.interval_left_out(others)}
            yield chip, {**times, "floor_is_host": True} if parts[0].floor_is_host else times


def as_sheet(program, rows, times):
    """us, low, high of rows with times of a data sheet alone."""
    with tempfile.TemporaryDirectory() as folder:
        sheet = pathlib.Path(folder) / "sheet.json"
        sheet.write_text(json.dumps({"classes": {rows.time_class: fit.written(times)}}))
        empty = pathlib.Path(folder) / "own.json"
        empty.write_text('{"classes": {}}')
        rows.work.to_csv(pathlib.Path(folder) / "rows.csv", index=False)
        output = subprocess.run([program, "judge", fit.ROOT / "devices" / f"{rows.device}.json", empty, rows.time_class,
                                 pathlib.Path(folder) / "rows.csv", sheet], text=True, capture_output=True, check=True).stdout
    # At the measured floor: rows of single calls are as long as their host needs, which no device has a part in.
    return numpy.array([line.split(",")[:3] for line in output.splitlines()[1:]], dtype=float)


def classes(program, data, wanted, folder):
    by_class = {}
    for rows in sources.all_rows(data):
        by_class.setdefault(rows.time_class, []).append(rows)
    print("| device | class | rows | error, median / 90 % | bias | inside | ± width |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for time_class, parts in by_class.items():
        if wanted and time_class not in wanted:
            continue
        for chip, times in sheets_of(program, parts):
            path = folder / f"{chip}.json"
            path.write_text(fit.compact({**fit.read_classes(path), time_class: times}))
            for rows in parts:
                if fit.chip_of(rows.device) != chip:
                    continue
                judged = rows.part(numpy.sort(numpy.random.default_rng(SEED).permutation(len(rows.us))[:JUDGED]))
                middle, low, high = as_sheet(program, judged, times).T
                off = 100 * abs(middle / judged.us - 1)
                print(f"| {rows.device} | {time_class} | {len(off):,} | {numpy.median(off):.1f} / {numpy.quantile(off, 0.9):.1f} | "
                      f"{100 * numpy.median(middle / judged.us - 1):+.0f} | {100 * numpy.mean((low <= judged.us) & (judged.us <= high)):.0f} % | "
                      f"{100 * numpy.median(high / middle - 1):.0f} % |", flush=True)


@contextlib.contextmanager
def shipped(sheet):
    """The program reads its data sheet's times from one place."""
    before = SHEET.read_text()
    try:
        SHEET.write_text(fit.compact({**fit.read_classes(SHEET), **fit.read_classes(sheet)}))
        yield
    finally:
        SHEET.write_text(before)


def unmeasured(device, folder):
    """The device's file without times of kernels."""
    path = fit.ROOT / "devices" / f"{device}.json"
    known = json.loads(path.read_text())
    known.pop("kernel_times", None)
    for key in ("links", "kernel_clocks"):
        known[key] = str(path.parent / known[key])
    out = folder / f"{device}_sheet.json"
    out.write_text(json.dumps(known))
    return out


def neusight_steps(program, data, folder):
    import judge_steps
    table = pandas.read_csv(data / "steps_neusight_fp32.csv")
    table = table[(table.n_gpus == 1) & table.option.isna() & table.gpu.isin(sources.NEUSIGHT)]
    for _, row in table.iterrows():
        path = folder / f"{row.model}_{row['mode']}_{row.batch}.pt2"
        if not path.exists():
            judge_steps.write_model(path, row.model, row["mode"], int(row.batch))
        device = sources.NEUSIGHT[row.gpu]
        with shipped(folder / f"{fit.chip_of(device)}.json"):
            us, low, high, *_ = judge_steps.predicted(program, path, row["mode"], unmeasured(device, folder))
        yield device, "NeuSight", row.step_ms, us, low, high


def steps(program, data, folder):
    table = pandas.DataFrame(neusight_steps(program, data, folder), columns=["device", "source", "ms", "us", "low", "high"])
    print("| device | steps | error, mean | worst | inside | ± width |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for device, part in [*table.groupby("device"), ("all", table)]:
        off = 100 * (part.us / part.ms - 1)
        print(f"| {device} | {len(part)} | {off.abs().mean():.1f} | {off.iloc[off.abs().to_numpy().argmax()]:+.1f} | "
              f"{100 * ((part.low <= part.ms) & (part.ms <= part.high)).mean():.0f} % | {100 * (part.high / part.us - 1).median():.0f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--classes", nargs="*", help="only these classes of kernels; without any: none")
    parser.add_argument("--steps", action="store_true")
    binaries = fit.ROOT / "build" / "release" / "bin"
    given = parser.parse_args()
    given.work.mkdir(exist_ok=True)
    if given.classes is None or given.classes:
        classes(binaries / "symprof_time_rows", given.data, given.classes, given.work)
    if given.steps:
        steps(binaries / "symprof", given.data, given.work)


if __name__ == "__main__":
    main()
