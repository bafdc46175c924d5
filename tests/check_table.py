#!/usr/bin/env python3
"""Holds the whole table of ViT-B/16 against tests/golden/vit_b_16_math_macs.txt; how its figures relate
to the table that Colossal-AI's Analyzer prints is in torch/analyzer_table_test.cpp.

Usage: check_table.py SYMPROF_BINARY [--rewrite]"""
import difflib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden" / "vit_b_16_math_macs.txt"
COMMAND = "profile models/vit_b_16.pt2 --by module --attention math --unit macs --mode eval"


def main():
    done = subprocess.run([sys.argv[1], *COMMAND.split()], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "COLUMNS": "160"})
    if done.returncode:
        sys.exit(done.stderr)
    if "--rewrite" in sys.argv:
        GOLDEN.write_text(done.stdout)
    expected = GOLDEN.read_text().splitlines(keepends=True)
    changes = difflib.unified_diff(expected, done.stdout.splitlines(keepends=True), str(GOLDEN), "now")
    sys.exit("".join(changes) or 0)


if __name__ == "__main__":
    main()
