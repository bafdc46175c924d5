#!/usr/bin/env python3
"""Judges the classes of an H200 on other halves of its recorded operators than that of devices/time/h200.json.

    python3 scripts/time/judge_halves.py [--program build/release/bin/symprof_time_rows] [--only CLASS ...]

Few rows are on either side of one half, so that chance decides how many lie in their interval. Each of eight other
halves is fitted as fit_h200.py does, and judged on its other half. The table has the rows of all of them, and between
which shares the eight are. Some minutes; numpy, scipy and pandas are needed."""
import argparse

import numpy

import fit
import fit_h200
import h200_rows

DRAWS = 8


def judged(program, lines, beside):
    """us, estimate, low, high of the rows that were not drawn."""
    times = fit_h200.fitted(program, [line for line in lines if line["drawn"]], beside)
    others = [line for line in lines if not line["drawn"]]
    rows = h200_rows.rows_of(others)
    more = numpy.array([line["more"] for line in others])
    estimates = fit.judge(program, rows, times)[0] + more[:, None]
    return numpy.column_stack([[line["us"] for line in others], estimates])


def share_within(half):
    us, _, low, high = half.T
    return numpy.mean((low <= us) & (us <= high))


def line_of(program, name, lines, beside):
    halves = [judged(program, h200_rows.drawn_again(lines, seed), beside) for seed in range(DRAWS)]
    rows = numpy.concatenate(halves)
    us, middle, low, high = rows.T
    wrong = 100 * abs(middle / us - 1)
    shares = sorted(map(share_within, halves))
    return (f"| {name} | {len(lines)} | {numpy.median(wrong):.1f} / {numpy.quantile(wrong, 0.9):.1f} | {share_within(rows):.0%} | "
            f"{shares[0]:.0%} to {shares[-1]:.0%} | {100 * numpy.median((high - low) / 2 / middle):.0f}% |")


def groups(lines, program):
    """(name, lines, lines beside) of what is fitted apart, as fit_h200.fitted_class has it."""
    for time_class in sorted({line["class"] for line in lines}):
        of_class = [line for line in lines if line["class"] == time_class]
        yield time_class, [line for line in of_class if h200_rows.is_fitted(line)], h200_rows.calibrated(time_class, program)
        if time_class in h200_rows.IN_CACHE:
            yield f"{time_class}, in L2", [line for line in of_class if h200_rows.is_in_cache(line)], []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=fit.ROOT / "build" / "release" / "bin" / "symprof_time_rows")
    parser.add_argument("--only", nargs="*", help="classes; without it all")
    given = parser.parse_args()
    lines = [line for line in h200_rows.table(program=given.program) if h200_rows.fits(line)]
    if given.only:
        lines = [line for line in lines if line["class"] in given.only]
    print("| class | rows | error | within | each half | ± width |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, of_class, beside in groups(lines, given.program):
        print(line_of(given.program, name, of_class, beside), flush=True)


if __name__ == "__main__":
    main()
