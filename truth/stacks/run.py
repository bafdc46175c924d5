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
import tempfile
from collections.abc import Iterator

import header
import page
import verdict

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = ROOT / "build" / "stacks"


def python_of_the_environment() -> str:
    folder = FOLDER / "environment"
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "-r", str(HERE / "requirements.txt")], check=True)
        (folder / "done").touch()
    return str(python)


def ran(scripts: list[header.Header], python: str, limit: int) -> Iterator[tuple[header.Header, verdict.Verdict, float]]:
    """Each script's verdict, and how many seconds it took."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "WANDB_MODE": "disabled",
                   "PYTHONPATH": str(pathlib.Path(os.environ.get("SYMPROF_PYTHON", ROOT / "build" / "release" / "python")).resolve())}
    references = verdict.references()
    with tempfile.TemporaryDirectory() as folder:
        command = [python, str(HERE / "simulated.py"), folder, str(limit), *(str(told.path) for told in scripts)]
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as simulated:
            assert simulated.stdout is not None
            for told, line in zip(scripts, simulated.stdout, strict=False):
                code, seconds = int(line.split()[1]), float(line.split()[2])
                report, log = pathlib.Path(folder, told.name + ".json"), pathlib.Path(folder, told.name + ".log").read_text(errors="replace")
                (FOLDER / "logs" / told.name).write_text(log)
                if code in (0, 1) and report.exists():
                    yield told, verdict.of_report(told, json.loads(report.read_text()), references.get(told.name, {})), seconds
                else:
                    yield told, verdict.of_failure(code, log if seconds < limit else f"took more than {limit} s"), seconds


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
    for folder in (results, FOLDER / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    todo = [told for told in header.scripts(options.only) if options.only or not (results / f"{told.name}.json").exists()]
    for place, (told, found, seconds) in enumerate(ran(todo, python, options.limit) if todo else (), 1):
        (results / f"{told.name}.json").write_text(json.dumps({**dataclasses.asdict(found), "seconds": round(seconds, 1)}) + "\n")
        print(f"[{place} of {len(todo)}] {told.name}: {found.kind}, {seconds:.0f} s{': ' if found.why else ''}{found.why}", flush=True)
    page.write(results, python)


if __name__ == "__main__":
    main()
