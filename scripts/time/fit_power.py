#!/usr/bin/env python3
"""Fits the constants of profile/time/power.cpp: how far a board's power lowers its clock in long products.

    python scripts/time/fit_power.py DATA

A row is a GPU and a kind of product: the share of the data sheet's peak that its large products reach (the median over
3e10 FLOPs, each side 512 or more). That is what the library reaches at full clock, times the clock within the power:
sqrt((watts (1 - rest) - memory) / (pJ per FLOP x FLOPs per second)), and pJ are those of 12 nm times (nm / 12) ^ power. Least
squares of logarithms over all rows, then each chip left out and predicted. Energies of memory are literature's (power.cpp),
`rest` is the best of 0.1, 0.15 and 0.25 with chips left out. Needs numpy, scipy and pandas."""
import argparse
import itertools
import json
import pathlib

import numpy
from scipy.optimize import least_squares

import fit
import sources

LARGE_FLOPS, LEAST_SIDE, REST = 3e10, 512, 0.1
BYTE_PJ = {"HBM": 31, "GDDR": 60}
TENSOR = {"product_16bit": 1, "product_fp32": 0}
START = numpy.log([24, 1.9, 1.2, 0.88, 0.85])  # pJ in fp32 and on tensor cores, power of nm, what libraries reach of both.


def measured(data):
    """(device, kind, watts but for memory's, nm, peak, median share, rows, watts)"""
    for rows in itertools.chain(sources.aic_products(data), sources.neusight_products(data), sources.deepbench_products(data),
                                sources.vidur_products(data)):
        known = json.loads((fit.ROOT / "devices" / f"{rows.device}.json").read_text())
        tensor = TENSOR[rows.time_class]
        peak = known["flops_per_second"]["float16" if tensor else "float32"]
        work, flops = rows.work, fit.flops_of(rows).to_numpy()
        chosen = (flops > LARGE_FLOPS) & (work[["m", "n", "k"]].min(axis=1) >= LEAST_SIDE).to_numpy()
        if "clock_percent" in work:
            chosen &= (work.clock_percent == 100).to_numpy()
        share = numpy.median(flops[chosen] / rows.us[chosen] * 1e6 / peak)
        watts = known["power_watts"]
        memory = BYTE_PJ[known["memory_type"]] * known["memory_bytes_per_second"] / 1e12
        available = max(watts * (1 - REST) - memory, watts / 2)
        yield rows.device, tensor, available, known["process_nm"], peak, share, int(chosen.sum()), watts


def clocks(logs, rows):
    energies, power, reached = numpy.exp(logs[:2]), numpy.exp(logs[2]), numpy.exp(logs[3:])
    of = numpy.array([energies[row[1]] * (row[3] / 12) ** power * row[4] * reached[row[1]] / 1e12 for row in rows])
    return numpy.minimum(1, numpy.sqrt(numpy.array([row[2] for row in rows]) / of))


def errors(logs, rows):
    reached = numpy.exp(logs[3:])[[row[1] for row in rows]]
    return numpy.log(reached * clocks(logs, rows)) - numpy.log([row[5] for row in rows])


def fitted(rows):
    drawn = lambda logs: numpy.append(errors(logs, rows), 0.1 * (logs - START))
    return least_squares(drawn, START).x


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    rows = list(measured(parser.parse_args().data))
    logs = fitted(rows)
    print("pJ in fp32 {:.1f}, on tensor cores {:.2f}, power of nm {:.2f}, reached {:.2f} and {:.2f}".format(*numpy.exp(logs)))
    print("| device | product | rows | W | reached of the peak | clock | predicted | chip left out | without power |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for place, row in enumerate(rows):
        others = fitted([one for one in rows if fit.chip_of(one[0]) != fit.chip_of(row[0])])
        alike = [one[5] for one in rows if one[1] == row[1] and fit.chip_of(one[0]) != fit.chip_of(row[0])]
        print(f"| {row[0]} | {'16 bit' if row[1] else 'fp32'} | {row[6]} | {row[7]} | {row[5]:.2f} | {clocks(logs, rows)[place]:.2f} | "
              f"{100 * numpy.expm1(errors(logs, rows)[place]):+.0f} % | {100 * numpy.expm1(errors(others, [row])[0]):+.0f} % | "
              f"{100 * (numpy.exp(numpy.mean(numpy.log(alike))) / row[5] - 1):+.0f} % |")


if __name__ == "__main__":
    main()
