#!/usr/bin/env python3
"""How narrow intervals of fp32 products become with more rows than fit.py draws.

    python3 scripts/time/judge_more_rows.py DATA [--program build/release/bin/symprof_time_rows] [--devices t4 ...]

DATA is that of fit.py. Coefficients are those of the device's file; the points are so many rows, and the interval is
what they need that are in no part of the points (ten parts). Judged are always the same rows, none of which is ever a
point. Some minutes; numpy, scipy and pandas are needed."""
import argparse
import json
import pathlib

import numpy

import fit
import sources

COUNTS = 300, 1200, 4800
JUDGED, SEED = 3000, 29


def widths_of(program, rows, times):
    """Interval and spread of rows that are judged by the points of nine tenths of the others."""
    folds, judged = fit.folds_of(rows), numpy.empty((len(rows.us), 6))
    for fold in range(fit.FOLDS):
        out, others = numpy.flatnonzero(folds == fold), rows.part(numpy.flatnonzero(folds != fold))
        points = fit.points_of(program, others, times["coefficients"])
        judged[out] = fit.judged_rows(program, rows.part(out), {**times, "points": points}, fold)
    spread, ratios = fit.spread_of(program, judged)
    return {"interval": fit.quantile_of(ratios), "spread": spread}


def line_of(program, rows, times, count, judged):
    """`count` rows of those that are not judged; a larger count has those of a smaller one."""
    drawn = rows.part(numpy.random.default_rng(SEED).permutation(len(rows.us))[JUDGED:JUDGED + count])
    times = {**times, **widths_of(program, drawn, times),
             "points": fit.points_of(program, drawn, times["coefficients"])}
    middle, low, high = fit.judge(program, judged, times)[0].T
    errors = 100 * abs(middle / judged.us - 1)
    within = 100 * numpy.mean((low <= judged.us) & (judged.us <= high))
    return (f"| {rows.device} | {len(drawn.us):,} | {numpy.median(errors):.1f} / {numpy.quantile(errors, 0.9):.1f} | "
            f"{within:.0f} % | {100 * numpy.median((high - low) / 2 / middle):.0f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--program", default=fit.ROOT / "build" / "release" / "bin" / "symprof_time_rows")
    parser.add_argument("--devices", nargs="+", default=["t4"])
    given = parser.parse_args()
    print("| device | points | error | within | ± width |\n| --- | ---: | ---: | ---: | ---: |")
    for rows in sources.neusight_products(given.data):
        if rows.device not in given.devices:
            continue
        path = fit.ROOT / "devices" / "time" / f"{rows.device}.json"
        times = json.loads(path.read_text())["classes"][rows.time_class]
        judged = rows.part(numpy.random.default_rng(SEED).permutation(len(rows.us))[:JUDGED])
        for count in COUNTS:
            print(line_of(given.program, rows, times, count, judged), flush=True)


if __name__ == "__main__":
    main()
