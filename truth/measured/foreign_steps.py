#!/usr/bin/env python3
"""Small steps of other packages' models on an H200 beside what `symprof profile` says: memory, and how long the GPU is busy.

    python3 truth/measured/foreign_steps.py build/release/bin/symprof [--exports FOLDER] [--check]

foreign_h200.csv has the runs (README.md); the models lie in tests/zoo/foreign/packages, what is too large for that in the
FOLDER of truth/foreign/run.py. How far kernels of small steps are those that find their operands in L2 (profile/step_time.cpp)
is fitted on half of the runs, drawn by a hash of the models' names; the last line is of the others. The host's time is `symprof measure`'s own, and is not compared.
--check is a test: medians and the worst are where docs/evaluation/accuracy.md has them."""
import argparse
import concurrent.futures
import csv
import pathlib
import statistics
import sys
import zlib

from estimates import busy_us, profiled

HERE = pathlib.Path(__file__).resolve().parent
SHIPPED = HERE.parents[1] / "tests/zoo/foreign/packages"
OPTIONS = ["--device", "h200", "--alloc-conf", "torch:2.11", "--optimizer", "adamw:foreach"]
MODES = {"fp32": [], "autocast": ["--autocast", "bf16"]}
# What was reached, and a tenth of it: (median, worst) of the share by which an estimate is off.
BOUNDS = {"allocated_bytes": (0.0001, 0.025), "reserved_bytes": (0.0, 0.32), "busy_us": (0.111, 0.63)}


def is_drawn(model):
    return zlib.crc32(model.encode()) % 2 == 0


def estimate(symprof, path, mode):
    totals = profiled(symprof, path, *OPTIONS, *MODES[mode])["totals"]
    return {"allocated_bytes": totals["peak_allocated_bytes"], "reserved_bytes": totals["peak_reserved_bytes"],
            "busy_us": busy_us(totals)}


def compared(symprof, folders):
    """(run, {figure: share by which it is off}) of each run whose model is in one of the folders."""
    def compare(run):
        path = next((folder / f"{run['model']}.pt2" for folder in folders if (folder / f"{run['model']}.pt2").exists()), None)
        if path is None:
            return None
        return run, {key: value / float(run[key]) - 1 for key, value in estimate(symprof, path, run["mode"]).items()}

    with (HERE / "foreign_h200.csv").open() as file, concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [pair for pair in pool.map(compare, csv.DictReader(file)) if pair]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("symprof")
    parser.add_argument("--exports", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    rows = compared(given.symprof, [SHIPPED] + ([given.exports] if given.exports else []))
    print("| step | allocated | off | reserved | off | busy | off |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for run, off in rows:
        print(f"| {run['model']}, {run['mode']} | {int(run['allocated_bytes']) / 2**20:.2f} MiB | {off['allocated_bytes']:+.2%} "
              f"| {int(run['reserved_bytes']) / 2**20:.0f} MiB | {off['reserved_bytes']:+.1%} | {run['busy_us']} us | {off['busy_us']:+.1%} |")
    is_wrong = False
    for key, bounds in BOUNDS.items():
        found = [abs(off[key]) for _, off in rows]
        median, worst = statistics.median(found), max(found)
        print(f"{key}: median {median:.2%}, worst {worst:.2%}, equal {sum(not share for share in found)} of {len(found)}")
        is_wrong |= median > bounds[0] or worst > bounds[1]
    unseen = [abs(off["busy_us"]) for run, off in rows if not is_drawn(run["model"])]
    print(f"busy_us of models that no fit saw: median {statistics.median(unseen):.2%}, worst {max(unseen):.2%}, of {len(unseen)}")
    return int(given.check and is_wrong)


if __name__ == "__main__":
    sys.exit(main())
