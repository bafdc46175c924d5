#!/usr/bin/env python3
"""Fits the coefficients of an H200 to half of its recorded operators, products in fp32 to what `symprof calibrate` measured
beside, and writes them to devices/time/h200.json.

    python scripts/time/fit_h200.py [--program build/release/bin/symprof_time_rows] [--only CLASS ...]

The half is drawn by a hash of each point's key (h200_rows.py); compare_operators.py judges on the other half. Other
classes of the file stay as they are. H100s take what was fitted here. numpy, scipy and pandas are needed."""
import argparse

import numpy

import fit
import h200_rows

FEWEST_WITH_POINTS = 20
WIDTH_OF_FEW = 0.7  # natural logarithm: a handful of rows cannot say how far others are off


def fitted(program, lines):
    """Passes of attention have the same sizes, and few rows have no neighbours: those have no points, and one width. A
    point's measurements with and without its operands in the L2 cache, or made twice, are in one fold: they say too much
    of each other. An interval is at least that of the recorded operators, which all others fit as well."""
    recorded, lines = lines, lines + h200_rows.calibrated(lines[0]["class"])
    rows, fixed = h200_rows.rows_of(lines), fit.fixed_with(lines[0]["class"], len(lines))
    coefficients = fit.fit_coefficients(program, [rows], fixed=fixed)
    has_points = len(lines) >= FEWEST_WITH_POINTS and not rows.time_class.startswith("attention")
    folds = numpy.array([line["fold"] for line in lines]) % fit.FOLDS
    ratios = fit.ratios_of(program, rows, coefficients, folds, fixed, has_points)
    interval = max(map(fit.quantile_of, (ratios, ratios[:len(recorded)])))
    if len(lines) < FEWEST_WITH_POINTS:
        interval = max(interval, WIDTH_OF_FEW)
    beside = f" and {len(lines) - len(recorded)} of truth/measured" if len(lines) > len(recorded) else ""
    times = {"fitted_on": f"{len(recorded)} points of truth/h200/kernel_record, a half by hash{beside}", "calibrated": True,
             "coefficients": coefficients, "interval": interval}
    return {**times, "points": fit.points_of(program, rows, coefficients)} if has_points else times


# No other device has measurements of these: theirs are an H200's, with more doubt.
LENT = ("depthwise", "depthwise_cudnn", "recurrent_16bit", "recurrent_tf32")
OTHER_DEVICE = 0.4  # natural logarithm


def lent(program, lines, times):
    rows = h200_rows.rows_of(lines)
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
    lines = [line for line in h200_rows.table() if line["drawn"] and h200_rows.fits(line)]
    for time_class in sorted({line["class"] for line in lines}):
        if given.only and time_class not in given.only:
            continue
        of_class = [line for line in lines if line["class"] == time_class]
        classes[time_class] = times = fitted(given.program, of_class)
        print(time_class, times["coefficients"], times["interval"], flush=True)
    path.write_text(fit.compact(classes))
    path = path.with_name("data_sheet.json")
    shared = {time_class: lent(given.program, [line for line in lines if line["class"] == time_class], classes[time_class])
              for time_class in LENT}
    path.write_text(fit.compact({**fit.read_classes(path), **shared}))
    fit.lend_to_siblings(path.parent)


if __name__ == "__main__":
    main()
