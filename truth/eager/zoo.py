#!/usr/bin/env python3
"""Profiles the zoo's modules as objects, and compares them with what PyTorch said about them.

Usage: zoo.py [NAME…]   (PYTHONPATH has the package symprof; packages as in requirements-models.txt)

Prints a line for each model: equal, or the figures that differ with both values."""
import json
import pathlib
import sys
import time

import symprof  # Before torch.

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "models"))
FIGURES = ("fwd_flops", "bwd_flops", "saved_bytes", "param_bytes", "buffer_bytes", "input_bytes")


def compare(name, architecture):
    import zoo  # noqa: F401
    from architectures import building

    truth = json.loads((ROOT / f"tests/zoo/models/{name}.json").read_text())
    module, inputs = building.build_without_memory(architecture)
    start = time.perf_counter()
    totals = symprof.profile(module, *inputs).totals
    seconds = time.perf_counter() - start
    differing = {figure: (totals[figure], truth[figure]) for figure in FIGURES if totals[figure] != truth[figure]}
    return seconds, differing


def main():
    import zoo  # noqa: F401, stands in for torchvision's compiled operators
    from architectures import ARCHITECTURES

    names = sys.argv[1:] or [name for name in ARCHITECTURES if (ROOT / f"tests/zoo/models/{name}.json").exists()]
    equal = 0
    for name in names:
        try:
            seconds, differing = compare(name, ARCHITECTURES[name])
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:300]}", flush=True)
            continue
        equal += not differing
        print(f"{name}: {differing or 'equal'} ({seconds:.2f} s)", flush=True)
    print(f"{equal} of {len(names)} equal")


if __name__ == "__main__":
    main()
