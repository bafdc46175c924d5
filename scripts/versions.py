#!/usr/bin/env python3
"""The models' figures under every torch at hand, beside what that torch says itself (truth/versions/): a matrix.

Usage: scripts/versions.py [--pair TORCH PYTHON]      make versions

It asks each environment that scripts/wheels.sh made (build/wheels-work/environments/torch-2.14-python-3.13), and the clean one
beside it that has the wheel. A torch is asked for its own figures once. Exit 1 where a figure differs."""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build/wheels-work"
HERE = ROOT / "truth/versions"


def environments():
    """(torch, Python, folder), as (2, 14), (3, 13) and where that torch is installed."""
    for folder in (WORK / "environments").glob("torch-*-python-*"):
        _, torch, _, python = folder.name.split("-")
        yield tuple(map(int, torch.split("."))), tuple(map(int, python.split("."))), folder


def run(folder, script, *words, **variables):
    command = [folder / "bin/python", "-W", "ignore", HERE / script, *words]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{folder.name}, {script}: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout


def newest(paths):
    return max((path.stat().st_mtime for path in paths), default=0.0)


def reference(torch, folder):
    answers = WORK / "reference" / torch
    asked_by = [HERE / "reference.py", HERE / "models.py", ROOT / "truth/measure.py", ROOT / "truth/fake_cuda.cpp"]
    if not (answers / "reference.json").exists() or newest(asked_by) > (answers / "reference.json").stat().st_mtime:
        run(folder, "reference.py", answers)
    return answers


def row(torch, python, folder):
    """A line of the matrix, and what differs."""
    clean = WORK / f"pairs/torch-{torch}-python-{python}/environment"
    if not (clean / "bin/python").exists():
        return f"| {torch} | {python} | no wheel | | | |", []
    answer = json.loads(run(clean, "ours.py", reference(torch, folder)))
    differences = answer["differences"]
    return f"| {answer['torch']} | {python} | {answer['compared']} | {len(differences)} | {' '.join(answer['left_out'])} | {answer['seconds_to_first']} |", differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", nargs=2, metavar=("TORCH", "PYTHON"))
    pair = parser.parse_args().pair
    found = [(".".join(map(str, torch)), ".".join(map(str, python)), folder) for torch, python, folder in sorted(environments())]
    if not found:
        sys.exit(f"{WORK}: has no environments.\n  scripts/wheels.sh makes them.")
    different = False
    print("| torch | Python | figures compared | differ | PyTorch refuses | seconds to the first |\n| --- | --- | ---: | ---: | --- | ---: |")
    for torch, python, folder in found:
        if pair is None or pair == [torch, python]:
            line, differences = row(torch, python, folder)
            print(line, *differences, sep="\n", flush=True)
            different |= bool(differences)
    return different


if __name__ == "__main__":
    sys.exit(main())
