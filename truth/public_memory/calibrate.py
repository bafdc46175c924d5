#!/usr/bin/env python3
"""Takes lengths of texts, which nobody published, from the few measured rows that are named for it, and writes them beside this.

Usage: calibrate.py peft                            (peft_lengths.json, from one row)
       calibrate.py orca [--libraries FOLDER]       (orca_lengths.json, one row for each way of batching)

The lengths are those whose prediction is nearest to the measured figure of the row: of its mean, its 99th percentile and its
largest window for PEFT, of its peak for Orca. These rows are not judged.
"""
import argparse
import csv
import dataclasses
import json
import pathlib
from collections.abc import Callable
from typing import Any

import symprof  # noqa: F401 # Above torch.

import fms
import peft_llm
from loop import Simulated, first_segment

ROWS = pathlib.Path(__file__).parent / "rows"


def row_of(file: str, name: str) -> dict[str, str]:
    return next(row for row in csv.DictReader((ROWS / file).open()) if row["id"] == name)


def nearest(predict: Callable[[int], float], measured: float, low: int, high: int, steps: tuple[int, ...]) -> int:
    """Of the lengths from low to high: in steps that get finer around the best."""
    tried: dict[int, float] = {}
    best = (low + high) // 2
    for step in steps:
        for length in range(low, high + 1, step):
            if length not in tried:
                tried[length] = abs(predict(length) - measured)
                print(length, f"{tried[length] / measured:.4f} off", flush=True)
        best = min(tried, key=lambda length: tried[length])
        low, high = best - step + 1, best + step - 1
    return best


def calibrate_peft() -> None:
    row = row_of("peft.csv", peft_llm.CALIBRATED_ON)
    with Simulated("l40s", row["id"], "2.13"):
        start = first_segment()
        training = peft_llm.Training(peft_llm.adapted(peft_llm.base_model(row), row), row)

        def window(bucket: list[int], at: int = 0) -> int:
            training.step(bucket[-1])
            return peft_llm.windows(training, bucket[at:at + peft_llm.STEPS], start)

        def mean(deviation: int) -> float:
            bucket = peft_llm.Lengths(deviation / 1000, 0, 0).bucket()
            return (window(bucket) + window(bucket, peft_llm.WINDOW)) / 2

        deviation = nearest(mean, float(row["reserved_avg_bytes"]), 280, 360, (16, 4, 1)) / 1000
        usual = peft_llm.Lengths(deviation, 0, 0)
        p99, largest = (nearest(lambda length: window(usual.bucket(length)), float(row[name]), low, high, (20, 5, 1))
                        for name, low, high in (("reserved_p99_bytes", 520, 640), ("max_reserved_bytes", 640, 768)))
    found = peft_llm.Lengths(deviation, p99, largest)
    peft_llm.LENGTHS.write_text(json.dumps(dataclasses.asdict(found)) + "\n")
    print(found)


def calibrate_orca(libraries: str) -> None:
    """The peak is a straight line over the tokens where nothing but the texts is large: two predictions give it."""
    found = {}
    for way, name in fms.CALIBRATED_ON.items():
        row = row_of("fms.csv", name)
        fms.import_libraries(row, libraries)

        def peak(tokens: int, row: dict[str, str] = row) -> int:
            return int(fms.predict(row, libraries, tokens)["peak_allocated_bytes"])

        low, high = 2048, 4096
        slope = (peak(high) - peak(low)) / (high - low)
        found[way] = round(low + (float(row["peak_allocated_bytes"]) - peak(low)) / slope)
        print(way, found[way], f"{peak(found[way]) / float(row['peak_allocated_bytes']) - 1:+.4f}", flush=True)
    fms.ORCA.write_text(json.dumps(found) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("peft", "orca"))
    parser.add_argument("--libraries", default="build/public_memory")
    options: Any = parser.parse_args()
    if options.what == "peft":
        calibrate_peft()
    else:
        calibrate_orca(options.libraries)


if __name__ == "__main__":
    main()
