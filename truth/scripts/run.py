#!/usr/bin/env python3
"""Runs the scripts of catalog.py, under `symprof run` or on a GPU that computes nothing, and writes what torch.cuda said.

Usage: run.py ours|cuda FOLDER [NAME …] [--remote ADDRESS]

`ours` and `cuda`: whose torch this Python has. FOLDER gets checkouts, data, and <ours|cuda>/<NAME>.jsonl with a line for
each optimizer step (watch.py). For `cuda` the environment has to be that of the fake GPU (README.md).
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

import catalog
import data
import device

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_SECONDS = 900


def prepare(script, folder, remote):
    """The folder in which a script is started, and its words in the arguments."""
    checkout = catalog.fetch(script.source, folder / "checkouts", remote)
    place = checkout / script.folder
    for name, target in script.links:
        link = checkout / name
        link.parent.mkdir(parents=True, exist_ok=True)
        if link.is_dir() and not link.is_symlink():
            for path in (folder / "data" / target).iterdir():
                if not (link / path.name).exists():
                    (link / path.name).symlink_to(path)
        elif not link.exists():
            link.symlink_to(folder / "data" / target)
    return checkout, place


def ranks_of(script):
    """What torchrun tells rank 0."""
    told = {"RANK": 0, "LOCAL_RANK": 0, "WORLD_SIZE": script.ranks, "LOCAL_WORLD_SIZE": script.ranks}
    return {name: str(value) for name, value in told.items()} if script.ranks else {}


def run(name, side, folder, remote):
    script = catalog.every()[name]
    checkout, place = prepare(script, folder, remote) if script.source else (HERE, HERE)
    out = folder / side / f"{name}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    words = {"data": folder / "data", "out": folder / side / f"{name}.out"}
    arguments = [word.format(**words) for word in script.arguments.split()]
    watched = [str(HERE / "watch.py"), *(["--compile"] if script.is_compiled else []), str(out), str(script.steps), str(place / script.script), *arguments]
    start = [sys.executable] if side == "cuda" else [sys.executable, "-m", "symprof", "run", "--all", "--format", "json", "-o", str(out) + ".json",
                                                          "--device", str(device.without_plans(out.parent))]
    if script.ranks and side == "ours":
        start += ["--ranks", str(script.ranks)]
    path = [*(str(checkout / entry) for entry in script.path), os.environ.get("PYTHONPATH", "")]
    told = {key: value.format(**words) for key, value in script.environment}
    environment = {**os.environ, **told, **ranks_of(script), "PYTHONPATH": ":".join(path), "HF_HUB_OFFLINE": "1",
                   "HF_DATASETS_CACHE": str(folder / "cache"), "WANDB_MODE": "disabled", "TOKENIZERS_PARALLELISM": "false"}
    begin = time.monotonic()
    with open(str(out) + ".log", "w") as log:
        code = subprocess.run([*start, *watched], cwd=place, env=environment, stdout=log, stderr=log, timeout=LIMIT_SECONDS).returncode
    count = len(out.read_text().splitlines()) if out.exists() else 0
    print(f"{name}: {count} of {script.steps} steps, exit {code}, {time.monotonic() - begin:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("side", choices=("ours", "cuda"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--remote", default="https://github.com/{repository}")
    options = parser.parse_args()
    folder = options.folder.resolve()
    data.make(folder / "data")
    for name in options.names or catalog.every():
        try:
            run(name, options.side, folder, options.remote)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{name}: {error}", flush=True)


if __name__ == "__main__":
    main()
