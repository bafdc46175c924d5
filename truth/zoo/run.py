#!/usr/bin/env python3
"""Exports the architectures of models/architectures and measures each with PyTorch.

Usage: run.py FOLDER [--stages pt2,onnx,…] [--models NAME,…] [--limit SECONDS] [--again]

Every step of a model is a process of its own; its result is FOLDER/<model>.<stage>.json, and what
is there already is not done again. Stages: pt2, onnx, pt (traced): the files; truth: FLOPs and saved
bytes of the exported program; eval: the same in evaluation mode; module: of the eager module.
`report.py` compares them with symprof's figures and writes the table.
"""
import argparse
import os
import pathlib
import subprocess
import sys

import stages

STAGES = ("pt2", "truth", "onnx", "pt", "eval", "module")


def names():
    """Without importing torch here: the stages import it after the shim."""
    command = [sys.executable, "-c", "import zoo, architectures as a; print(*a.ARCHITECTURES)"]
    done = subprocess.run(command, cwd=stages.ROOT / "models", capture_output=True, text=True)
    return done.stdout.split()


def run_one(name, folder, wanted, limit):
    command = ["nice", sys.executable, stages.__file__, name, str(folder)]
    command += [",".join(wanted), str(limit)]
    # Children are forked, which several threads would not survive.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (folder / f"{name}.log").open("a") as log:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        )
    print(done.stdout, end="", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--models")
    parser.add_argument("--limit", type=int, default=120, help="processor seconds of one step")
    parser.add_argument("--again", action="store_true", help="also what has a result")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.models.split(",") if args.models else names():
        wanted = args.stages.split(",")
        if not args.again:
            wanted = [s for s in wanted if not (args.folder / f"{name}.{s}.json").exists()]
        if wanted:
            run_one(name, args.folder, wanted, args.limit)


if __name__ == "__main__":
    main()
