#!/usr/bin/env python3
"""Holds `symprof memory` against the figures that index.csv gives for public snapshots of runs on GPUs.

Usage: compare.py SYMPROF_BINARY FOLDER

FOLDER has index.csv and the files that it names: bytes before the first event and after the last, and the peaks of requested,
allocated and reserved memory. They came from a replay in Python that knows where each block lies. Prints a line for each file; exit 1
where a figure differs."""
import csv
import json
import pathlib
import subprocess
import sys

FIGURES = {
    "events": lambda answer: answer["events"],
    "requested_at_start": lambda answer: answer["start"]["requested_bytes"],
    "allocated_at_start": lambda answer: answer["start"]["allocated_bytes"],
    "reserved_at_start": lambda answer: answer["start"]["reserved_bytes"],
    "peak_requested": lambda answer: answer["peaks"]["requested"]["bytes"],
    "peak_allocated": lambda answer: answer["peaks"]["allocated"]["bytes"],
    "peak_reserved": lambda answer: answer["peaks"]["reserved"]["bytes"],
    "allocated_at_end": lambda answer: answer["end"]["allocated_bytes"],
    "reserved_at_end": lambda answer: answer["end"]["reserved_bytes"],
    "size_inferred_blocks": lambda answer: answer["inferred_block_sizes"],
    "replay_problems": lambda answer: sum(answer["contradictions"].values()),
}


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong = 0
    with open(folder / "index.csv", newline="") as index:
        for row in csv.DictReader(index):
            done = subprocess.run([program, "memory", folder / row["file"], "--format", "json"], capture_output=True, text=True)
            if done.returncode:
                differences = [done.stderr.strip()]
            else:
                answer = json.loads(done.stdout)
                differences = [f"{name} {figure(answer)}, not {row[name]}" for name, figure in FIGURES.items()
                               if figure(answer) != int(row[name])]
            wrong += bool(differences)
            print(f"{row['file']}: {'; '.join(differences) or f'{len(FIGURES)} figures equal'}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
