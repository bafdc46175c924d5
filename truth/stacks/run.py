#!/usr/bin/env python3
"""Runs each script under `symprof run`, holds its report to the reference, and writes docs/reference/stacks.md.

Usage: run.py [--only NAME ...] [--fresh] [--python PYTHON] [--limit SECONDS]      (`make stacks`)

What has run stays in build/stacks/: the command goes on where it was stopped. --fresh forgets it all, --only runs these
scripts again. Without --python the packages of requirements.txt are installed into build/stacks/environment.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import header
import page
import verdict

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = ROOT / "build" / "stacks"
sys.path.insert(0, str(HERE.parent / "scripts"))
import device  # noqa: E402


def python_of_the_environment() -> str:
    folder = FOLDER / "environment"
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "-r", str(HERE / "requirements.txt")], check=True)
        (folder / "done").touch()
    return str(python)


def ran(told: header.Header, python: str, limit: int) -> tuple[verdict.Verdict, float]:
    """The verdict, and how many seconds the command took."""
    work = FOLDER / "work" / told.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    report = work / "report.json"
    command = [python, "-m", "symprof", "run", "--device", str(device.without_plans(FOLDER)), *told.arguments, "--format", "json", "-o", str(report), str(told.path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "WANDB_MODE": "disabled",
                   "PYTHONPATH": os.environ.get("SYMPROF_PYTHON", str(ROOT / "build" / "release" / "python"))}
    begin = time.monotonic()
    with (work / "log").open("w") as log:
        try:
            code = subprocess.run(command, cwd=work, env=environment, stdout=log, stderr=log, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            return verdict.Verdict("crash", f"took more than {limit} s"), time.monotonic() - begin
    seconds = time.monotonic() - begin
    if code in (0, 1) and report.exists():
        return verdict.of_report(told, json.loads(report.read_text()), verdict.references().get(told.name, {})), seconds
    return verdict.of_failure(code, (work / "log").read_text(errors="replace")), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--python")
    parser.add_argument("--limit", type=int, default=300)
    options = parser.parse_args()
    python = options.python or python_of_the_environment()
    results = FOLDER / "results"
    if options.fresh:
        shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True, exist_ok=True)
    todo = [told for told in header.scripts(options.only) if options.only or not (results / f"{told.name}.json").exists()]
    for place, told in enumerate(todo, 1):
        found, seconds = ran(told, python, options.limit)
        (results / f"{told.name}.json").write_text(json.dumps({**dataclasses.asdict(found), "seconds": round(seconds, 1)}) + "\n")
        print(f"[{place} of {len(todo)}] {told.name}: {found.kind}, {seconds:.0f} s{': ' if found.why else ''}{found.why}", flush=True)
    page.write(results, python)


if __name__ == "__main__":
    main()
