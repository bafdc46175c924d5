#!/usr/bin/env python3
"""Brings what is written of ONNX's backend tests up to date: exceptions.txt, and the tables in docs/evaluation/onnx_backend.md.

    tests/onnx_backend/update.py build/release/bin/symprof_onnx_backend all.pb

`all.pb` is what write_cases.py writes. Read the differences before you keep them: a case that fails now and
passed before is a mistake."""
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
DOCUMENT = FOLDER.parent.parent / "docs/evaluation/onnx_backend.md"
FAILURE = re.compile(r"^FAIL (\S+) \([^)]*\): (.*)$", re.MULTILINE)
TABLES = re.compile(r"^\| cases \| number .*?(?=^Why they do not pass:$)", re.MULTILINE | re.DOTALL)


def output_of(*command):
    # The status is 1 when a case fails; what is printed says which.
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, cases = sys.argv[1:]
    exceptions = FOLDER / "exceptions.txt"
    head = exceptions.read_text().splitlines()[0]
    failures = sorted(f"{name}  {reason}" for name, reason in FAILURE.findall(output_of(program, cases)))
    exceptions.write_text("\n".join([head, *failures]) + "\n")
    tables = output_of(program, cases, "--markdown").rstrip("\n") + "\n\n"
    text, count = TABLES.subn(lambda _: tables, DOCUMENT.read_text())
    if not tables.strip() or count != 1:
        sys.exit(f"{DOCUMENT}: found {count} places for the tables; wanted one")
    DOCUMENT.write_text(text)
    print(f"{len(failures)} exceptions")


if __name__ == "__main__":
    main()
