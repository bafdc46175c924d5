#!/usr/bin/env python3
"""Public memory snapshots of runs on GPUs beside what symprof predicts of the programs behind them (public_runs.py).

Usage: predicted.py FOLDER [CASE …]

FOLDER has the snapshots, which are named as cases. Run it with the Python that imports symprof. Prints a row for each as Markdown:
requests, how many of them are equal and in the same order, and by how much the two peaks are off."""
import json
import pathlib
import subprocess
import sys

import public_runs

# cuBLAS's workspaces in the files tell a Hopper (32 MiB) from other GPUs (8,519,680 bytes).
SETTINGS = {
    "lm3400m": ["--device", "h100", "--alloc-conf", "torch:2.6"],
    "lm423m": ["--device", "a100-80g", "--alloc-conf", "torch:2.11"],
    "attention": ["--device", "a100-80g", "--alloc-conf", "torch:2.6"],
}


def compare(case, folder):
    script = pathlib.Path(public_runs.__file__)
    done = subprocess.run([sys.executable, "-m", "symprof", "run", "--all", *SETTINGS[case.partition("_")[0]], "--format", "json",
                           "--measured-memory", folder / f"{case}.pickle", script, case], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{case}: {done.stderr}")
    return json.loads(done.stdout)["measured_memory"]


def off(answer, figure):
    measured, predicted = (answer[side][f"peak_{figure}_bytes"] for side in ("measured", "predicted"))
    return "equal" if measured == predicted else f"{100 * (predicted / measured - 1):+.3f} %"


def main():
    folder = pathlib.Path(sys.argv[1])
    print("| snapshot | requests | equal | allocated peak | reserved peak |\n| --- | ---: | ---: | ---: | ---: |")
    for case in sys.argv[2:] or public_runs.CASES:
        answer = compare(case, folder)
        print(f"| {case} | {answer['measured']['requests']:,} | {answer['equal_requests']:,} | {off(answer, 'allocated')} "
              f"| {off(answer, 'reserved')} |", flush=True)


if __name__ == "__main__":
    main()
