#!/usr/bin/env python3
"""Runs the scripts on PyTorch itself (watched.py), and writes what a step of each costs to references.json.

Usage: reference.py [--python PYTHON] [--key cpu|cuda] [--only NAME ...] [--limit SECONDS]

The step is the third iteration: of `updates` updates by the script's header, or the whole script by its `iterations`.
With `--key cuda` the Python has PyTorch's CUDA build on a GPU that computes nothing (README.md).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import header

HERE = pathlib.Path(__file__).resolve().parent
KEPT = HERE / "references.json"
SUMS = ("fwd_flops", "bwd_flops", "optimizer_products", "evaluation_flops")


def together(updates: list[dict[str, int]]) -> dict[str, int]:
    """Of several updates: FLOPs add up, the most of what is held, states at the end."""
    return {key: sum(u[key] for u in updates) if key in SUMS else updates[-1][key] if key == "optimizer_bytes" else max(u[key] for u in updates)
            for key in updates[0] if all(key in u for u in updates)}


def step_of(told: header.Header, found: dict) -> dict:
    """What a report may be of: the third iteration, and where it has several updates the third update alone, too."""
    if found["ended"]:
        return {"refused": found["ended"], "iteration": {"saved_bytes": found["saved_bytes"]}}
    updates = found["updates"]
    if told.iterations:
        whole = together([*updates, found["rest"]])
        return {"iteration": {key: value // told.iterations if key in SUMS else value for key, value in whole.items()}}
    if not updates:
        return {"refused": "no optimizer's step ended"}
    count = told.updates
    third = updates[2 * count:3 * count] or updates[-count:]
    made = {"iteration": together(third)}
    if count > 1 and len(updates) >= 3:
        made["update"] = updates[2]
    return made


def refused(log: str) -> str:
    lines = [line for line in log.strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no output"


def run(scripts: list[header.Header], python: str, limit: int) -> Iterator[tuple[header.Header, dict]]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "WANDB_MODE": "disabled"}
    with tempfile.TemporaryDirectory() as folder:
        command = [*python.split(), str(HERE / "watched.py"), folder, str(limit), *(str(told.path) for told in scripts)]
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as watched:
            assert watched.stdout is not None
            for told, _ in zip(scripts, watched.stdout, strict=False):
                out = pathlib.Path(folder, told.name + ".json")
                yield told, step_of(told, json.loads(out.read_text())) if out.exists() else {"refused": refused(out.with_suffix(".log").read_text())}


def versions_of(python: str) -> dict[str, str]:
    code = "import importlib.metadata as m, json; print(json.dumps({d.metadata['Name'].lower().replace('_', '-'): d.version for d in m.distributions()}))"
    return json.loads(subprocess.check_output([*python.split(), "-c", code], text=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--key", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--limit", type=int, default=300, help="of a script; on a busy machine more")
    options = parser.parse_args()
    versions = versions_of(options.python)
    for told, made in run(header.scripts(options.only), options.python, options.limit):
        names = {"torch", *told.packages}
        made["versions"] = {name: versions[name.replace("_", "-")] for name in sorted(names) if name.replace("_", "-") in versions}
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        kept.setdefault(told.name, {})[options.key] = made
        KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
        print(told.name, made.get("refused", ""), made.get("iteration", ""), flush=True)


if __name__ == "__main__":
    main()
