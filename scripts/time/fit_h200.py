#!/usr/bin/env python3
"""Fits the coefficients of an H200 to half of its recorded operators, products in fp32 to what `symprof calibrate` measured
beside, and writes them to devices/time/h200.json.

    python scripts/time/fit_h200.py [--program build/release/bin/symprof_time_rows] [--only CLASS ...]

The half is drawn by a hash of each point's key (h200_rows.py); compare_operators.py judges on the other half. Other
classes of the file stay as they are. H100s take what was fitted here. numpy, scipy and pandas are needed."""
import argparse
import re
import zlib

import numpy

import fit
import h200_rows

FEWEST_WITH_POINTS = 20
WIDTH_OF_FEW = 0.7  # natural logarithm: a handful of rows cannot say how far others are off


# Reductions that find their operands in L2 differ little by operator and type, and others may have sizes that nobody
# measured: calls of one size are in one fold.
FOLDED_BY_SIZE = ("reduction",)


def fold_of(line):
    by_size = line["class"] in FOLDED_BY_SIZE and "key" in line and h200_rows.is_in_cache(line)
    sizes = re.search(r'"over":"(\w+)","sizes":(\[[^]]*\])', line["key"]) if by_size else None
    return zlib.crc32(sizes[0].encode()) % fit.FOLDS if sizes else line["fold"] % fit.FOLDS


# Of so few recorded calls half of what they need more than all rows may be chance. Of eight halves (judge_halves.py) 90 % of
# the classes' rows are within, 92 % where the wider of both intervals is taken, 88 % with that of all rows.
HALF_CHANCE = 50


def interval_of(ratios, recorded):
    """Of all rows; wider where the recorded ones, which are first, need more."""
    of_all, of_recorded = fit.quantile_of(ratios), fit.quantile_of(ratios[:recorded])
    weight = recorded / (recorded + HALF_CHANCE)
    return float(f"{of_all ** (1 - weight) * max(of_all, of_recorded) ** weight:.4g}")


def fitted(program, recorded, beside, known=None):
    """Coefficients, residuals and interval of recorded calls, with others `beside` that no comparison judges on. Passes of
    attention have the same sizes, and few rows have no neighbors: those have no points, and one width. A point's
    measurements with and without its operands in the L2 cache, or made twice, are in one fold: they say too much of each
    other. The search begins at `known` coefficients, those of the file: from others it may end at ones that fit less well."""
    lines = recorded + beside
    rows, fixed = h200_rows.rows_of(lines), fit.fixed_with(lines[0]["class"], len(lines))
    coefficients = fit.fit_coefficients(program, [rows], fixed=fixed, begin=(known or {}).get("coefficients"))
    has_points = len(lines) >= FEWEST_WITH_POINTS and not rows.time_class.startswith("attention")
    folds = numpy.array([fold_of(line) for line in lines])
    spread, ratios = fit.spread_of(program, fit.cross_validated(program, rows, coefficients, folds, fixed, has_points))
    interval = interval_of(ratios, len(recorded))
    if len(lines) < FEWEST_WITH_POINTS:
        interval = max(interval, WIDTH_OF_FEW)
    others = f" and {len(beside)} of truth/measured" if beside else ""
    times = {"fitted_on": f"{len(recorded)} points of truth/h200/kernel_record, a half by hash{others}", "calibrated": True,
             "coefficients": coefficients, "interval": interval, "spread": spread}
    return {**times, "points": fit.points_of(program, rows, coefficients)} if has_points else times


def fitted_class(program, lines, known):
    """Of the drawn rows of a class: what operands from memory take, and where those in L2 are fitted apart, they as well."""
    usual = [line for line in lines if h200_rows.is_fitted(line)]
    in_cache = [line for line in lines if h200_rows.is_in_cache(line)]
    times = fitted(program, usual, h200_rows.calibrated(usual[0]["class"], program), known)
    return {**times, "in_cache": fitted(program, in_cache, [], known.get("in_cache"))} if in_cache else times


# No other device has measurements of these: theirs are an H200's, with more doubt.
LENT = ("depthwise", "depthwise_cudnn", "recurrent_16bit", "recurrent_tf32")
OTHER_DEVICE = 0.4  # natural logarithm


def lent(program, lines, times):
    rows = h200_rows.rows_of([line for line in lines if h200_rows.is_fitted(line)])
    residuals = abs(numpy.log(rows.us / fit.predicted(program, rows, times["coefficients"])))
    return {"fitted_on": f"h200: {times['fitted_on']}", "calibrated": False, "coefficients": times["coefficients"],
            "interval": float(f"{numpy.quantile(residuals, 0.9) + OTHER_DEVICE:.3g}")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=fit.ROOT / "build" / "release" / "bin" / "symprof_time_rows")
    parser.add_argument("--only", nargs="*", help="classes; without it all")
    given = parser.parse_args()
    path = fit.ROOT / "devices" / "time" / "h200.json"
    classes = fit.read_classes(path)
    lines = [line for line in h200_rows.table(program=given.program) if line["drawn"] and h200_rows.fits(line)]
    for time_class in sorted({line["class"] for line in lines}):
        if given.only and time_class not in given.only:
            continue
        of_class = [line for line in lines if line["class"] == time_class]
        classes[time_class] = times = fitted_class(given.program, of_class, classes.get(time_class, {}))
        print(time_class, times["coefficients"], times["interval"], flush=True)
    path.write_text(fit.compact(classes))
    path = path.with_name("data_sheet.json")
    shared = {time_class: lent(given.program, [line for line in lines if line["class"] == time_class], classes[time_class])
              for time_class in LENT}
    path.write_text(fit.compact({**fit.read_classes(path), **shared}))
    fit.lend_to_siblings(path.parent)


if __name__ == "__main__":
    main()
