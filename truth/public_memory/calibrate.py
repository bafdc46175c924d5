#!/usr/bin/env python3
"""Takes the lengths of PEFT's batches from one measured row, and writes peft_lengths.json.

Usage: calibrate.py [--lengths 540 680]       (between which the two outliers are looked for)

The row's reserved bytes behind windows of many lengths are predicted; the lengths of its 99th percentile and of its largest
window are those whose prediction is nearest. How far the rows of a bucket spread follows from the mean in the same way.
"""
import argparse
import csv
import dataclasses
import json
from typing import Any

import symprof  # noqa: F401 # Above torch.

import peft_llm
from loop import Simulated, first_segment


def nearest(predicted: dict[Any, float], measured: float) -> Any:
    return min(predicted, key=lambda key: abs(predicted[key] - measured))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs=2, default=(540, 760))
    options = parser.parse_args()
    rows = csv.DictReader((peft_llm.LENGTHS.parent / "rows" / "peft.csv").open())
    row = next(row for row in rows if row["id"] == peft_llm.CALIBRATED_ON)
    outliers, means = {}, {}
    with Simulated("l40s", row["id"], "2.13"):
        start = first_segment()
        training = peft_llm.Training(peft_llm.adapted(peft_llm.base_model(row), row), row)
        usual = peft_llm.Lengths(0.32, 0, 0)
        training.step(usual.bucket()[-1])
        for length in range(*options.lengths, 10):
            outliers[length] = peft_llm.windows(training, usual.bucket(length)[:peft_llm.STEPS], start)
            print(length, outliers[length], flush=True)
            training.step(usual.bucket()[-1])
        for deviation in (0.30, 0.31, 0.32, 0.33):
            bucket = peft_llm.Lengths(deviation, 0, 0).bucket()
            halves = [peft_llm.windows(training, bucket[at:at + peft_llm.STEPS], start) for at in (0, peft_llm.WINDOW)]
            means[deviation] = sum(halves) / 2
            print(deviation, means[deviation], flush=True)
    found = peft_llm.Lengths(nearest(means, float(row["reserved_avg_bytes"])), nearest(outliers, float(row["reserved_p99_bytes"])),
                             nearest(outliers, float(row["max_reserved_bytes"])))
    peft_llm.LENGTHS.write_text(json.dumps(dataclasses.asdict(found)) + "\n")
    print(found)


if __name__ == "__main__":
    main()
