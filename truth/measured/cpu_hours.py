#!/usr/bin/env python3
"""How much a shared CPU's speed changes from hour to hour: two calibrations of one virtual machine, ten hours apart.

    python3 truth/measured/cpu_hours.py

cpu_hours.zip has their kernels. Of each class the median of the logarithm by which the kernels that both measured took
longer; the root of the classes' mean square is what session/calibrate.cpp takes for the two."""
import collections
import json
import math
import pathlib
import statistics
import zipfile

DATA = pathlib.Path(__file__).resolve().parent / "cpu_hours.zip"


def times(packed, name):
    rows = json.loads(packed.read(name))["kernels"]
    return {(row["class"], tuple(row["work"]), row.get("launches", 1)): row["us"] for row in rows}


def main():
    with zipfile.ZipFile(DATA) as packed:
        first, later = times(packed, "first.json"), times(packed, "later.json")
    changes = collections.defaultdict(list)
    for kernel in first.keys() & later.keys():
        changes[kernel[0]].append(math.log(first[kernel] / later[kernel]))
    medians = {name: statistics.median(values) for name, values in sorted(changes.items())}
    for name, median in medians.items():
        print(f"{name:18} {median:+.3f} of {len(changes[name])} kernels")
    print(f"root mean square of the classes: {math.sqrt(statistics.mean(m * m for m in medians.values())):.3f}")


if __name__ == "__main__":
    main()
