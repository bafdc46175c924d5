#!/usr/bin/env python3
"""Judges the classes of an H200 on other halves of its recorded operators than that of devices/time/h200.json.

    python3 scripts/time/judge_halves.py [--program build/release/bin/symprof_time_rows] [--only CLASS ...]

Few rows are on either side of one half, so that chance decides how many lie in their interval. Each of eight other
halves is fitted as fit_h200.py does, and judged on its other half; the table has the rows of all of them. Some minutes;
numpy, scipy and pandas are needed."""
import argparse

import numpy

import fit
import fit_h200
import h200_rows

DRAWS = 8


def judged(program, lines):
    """us, estimate, low, high of the rows that were not drawn."""
    times = fit_h200.fitted(program, [line for line in lines if line["drawn"]])
    others = [line for line in lines if not line["drawn"]]
    rows = h200_rows.rows_of(others)
    more = numpy.array([line["more"] for line in others])
    estimates = fit.judge(program, rows, times)[0] + more[:, None]
    return numpy.column_stack([[line["us"] for line in others], estimates])


def line_of(program, time_class, lines):
    us, middle, low, high = numpy.concatenate(
        [judged(program, h200_rows.drawn_again(lines, seed)) for seed in range(DRAWS)]).T
    wrong = 100 * abs(middle / us - 1)
    return (f"| {time_class} | {len(lines)} | {numpy.median(wrong):.1f} / {numpy.quantile(wrong, 0.9):.1f} | "
            f"{100 * numpy.mean((low <= us) & (us <= high)):.0f}% | {100 * numpy.median((high - low) / 2 / middle):.0f}% |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=fit.ROOT / "build" / "release" / "bin" / "symprof_time_rows")
    parser.add_argument("--only", nargs="*", help="classes; without it all")
    given = parser.parse_args()
    lines = [line for line in h200_rows.table() if h200_rows.fits(line)]
    print("| class | rows | error | within | ± width |\n| --- | ---: | ---: | ---: | ---: |")
    for time_class in sorted({line["class"] for line in lines}):
        if not given.only or time_class in given.only:
            of_class = [line for line in lines if line["class"] == time_class]
            print(line_of(given.program, time_class, of_class), flush=True)


if __name__ == "__main__":
    main()
