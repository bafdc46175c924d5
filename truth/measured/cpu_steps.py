#!/usr/bin/env python3
"""Steps of models on a CPU: measured by `symprof measure`, estimated with a device file of `symprof calibrate`.

    python3 truth/measured/cpu_steps.py SYMPROF --record cpu [--minutes 2]   this machine's CPU
    python3 truth/measured/cpu_steps.py SYMPROF [--check]                    estimates beside it

The calibration measures single kernels and has seen no step of these. --record NAME writes NAME_kernels.json and
NAME.zip, a run for each step. It goes on from the kernels that are there: --minutes 0 measures steps alone, and --only
without a name kernels alone. --check is a test: the device files are fitted anew
from the recorded kernels, and the figures are where README.md says."""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

import record_runs

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = {"cpu": ""}  # Name, and what the table adds to its steps.
# As many of each model as take so long.
SECONDS_OF_STEPS, FEWEST_STEPS, MOST_STEPS = 4, 3, 9
SGD, ADAMW = ["--optimizer", "sgd:foreach"], ["--optimizer", "adamw:foreach"]
INFERENCE = ["--mode", "inference"]


def runs_of(record):
    return HERE / f"{record}.zip"


def kernels_of(record):
    return HERE / f"{record}_kernels.json"


def batch(size):
    return ["--set", f"batch={size}"]


# Name: model (a path, or an export of truth/h200/data) and the options of its step, all in fp32. Models whose attention
# drops out run in inference: a CPU has no fused operator for that, and a recording does not say that it drops out.
STEPS = {
    "resnet50": ("models/resnet50.pt2", batch(4) + SGD),
    "resnet50-inference": ("models/resnet50.pt2", batch(8) + INFERENCE),
    "vit_b_16": ("models/vit_b_16.pt2", batch(4) + ADAMW),
    "vit_b_16-inference": ("models/vit_b_16.pt2", batch(2) + INFERENCE),
    "bert_base-inference": ("models/bert_base.pt2", batch(4) + INFERENCE),
    "gpt2-inference": ("models/gpt2.pt2", batch(1) + INFERENCE),
    "convnext_tiny": ("convnext_tiny-b40-fp32", batch(4) + ADAMW),
    "swin_t": ("swin_t-b40-fp32", batch(4) + ADAMW),
    "efficientnet_b0": ("efficientnet_b0-b80-fp32", batch(8) + SGD),
    "unet": ("unet-b10-fp32", batch(1) + SGD),
    "t5_small-inference": ("t5_small-b20-fp32", batch(2) + INFERENCE),
    "clip": ("clip-b40-fp32", batch(4) + ADAMW),
    "whisper_base": ("whisper_base-b10-fp32", batch(1) + ADAMW),
    "mistral_like": ("mistral_like-b6-fp32", batch(1) + SGD),
    "qwen_like": ("qwen_like-b6-fp32", batch(1) + SGD),
    "gpt2_medium-inference": ("gpt2_medium-b6-fp32", batch(1) + INFERENCE),
    "convnext_tiny-inference": ("convnext_tiny-b40-fp32", batch(8) + INFERENCE),
    "swin_t-inference": ("swin_t-b40-fp32", batch(8) + INFERENCE),
    "efficientnet_b0-inference": ("efficientnet_b0-b80-fp32", batch(16) + INFERENCE),
    "unet-inference": ("unet-b10-fp32", batch(2) + INFERENCE),
    "clip-inference": ("clip-b40-fp32", batch(8) + INFERENCE),
    "whisper_base-inference": ("whisper_base-b10-fp32", batch(2) + INFERENCE),
    "mistral_like-inference": ("mistral_like-b6-fp32", batch(1) + INFERENCE),
    "qwen_like-inference": ("qwen_like-b6-fp32", batch(1) + INFERENCE),
    "gpt2_small-inference": ("gpt2_small-b10-fp32", batch(2) + INFERENCE),
    "llama_1b-inference": ("llama_1b-b3-fp32", batch(1) + INFERENCE),
    "lstm-inference": ("lstm-b80-fp32", batch(8) + INFERENCE),
    "resnet50-b8": ("resnet50-b32-fp32", batch(8) + SGD),
    "resnet50-b16-inference": ("resnet50-b32-fp32", batch(16) + INFERENCE),
    "vit_b_16-b8-inference": ("vit_b_16-b40-fp32", batch(8) + INFERENCE),
    "bert_base-b2-inference": ("bert_base-b20-fp32", batch(2) + INFERENCE),
    "gpt2-b2-inference": ("models/gpt2.pt2", batch(2) + INFERENCE),
    "convnext_tiny-b8": ("convnext_tiny-b40-fp32", batch(8) + ADAMW),
    "swin_t-b8": ("swin_t-b40-fp32", batch(8) + ADAMW),
    "efficientnet_b0-b16": ("efficientnet_b0-b80-fp32", batch(16) + SGD),
    "unet-b2": ("unet-b10-fp32", batch(2) + SGD),
    "t5_small-b4-inference": ("t5_small-b20-fp32", batch(4) + INFERENCE),
    "clip-b8": ("clip-b40-fp32", batch(8) + ADAMW),
    "whisper_base-b2": ("whisper_base-b10-fp32", batch(2) + ADAMW),
}


def command_of(symprof, what, name, exports, *more):
    model, options = STEPS[name]
    return [symprof, what, str(record_runs.path_of(model, exports)), *options, *more]


def calibrate(symprof, kernels, device, minutes):
    subprocess.run([symprof, "calibrate", "--device", "cpu", "--minutes", str(minutes), "--measurements", str(kernels), "-o",
                    str(device), "-q"], check=True)


def measure(symprof, name, exports, steps, path):
    """The run; None where it fails, which is said."""
    done = subprocess.run(command_of(symprof, "measure", name, exports, "--steps", str(steps), "-q", "--by", "op", "--save",
                                     str(path)), capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: {done.stderr.strip()}", flush=True)
        return None
    run = json.loads(path.read_text())
    run["model"] = STEPS[name][0]
    return run


def read_runs(path):
    """By name."""
    if not path.exists():
        return {}
    with zipfile.ZipFile(path) as packed:
        return {name: json.loads(packed.read(f"{name}.json")) for name in STEPS if f"{name}.json" in packed.namelist()}


def record(symprof, name_of_record, minutes, only, folder):
    exports, device = folder / "exports", folder / "cpu.json"
    record_runs.unpack_exports(exports)
    began = time.monotonic()
    calibrate(symprof, kernels_of(name_of_record), device, minutes)
    print(f"calibrated in {time.monotonic() - began:.0f} s", flush=True)
    runs = read_runs(runs_of(name_of_record))
    for name in only:
        us = estimate(symprof, name, device, exports)["step_time_us"]
        steps = max(FEWEST_STEPS, min(MOST_STEPS, round(SECONDS_OF_STEPS * 1e6 / us)))
        if run := measure(symprof, name, exports, steps, folder / f"{name}.json"):
            runs[name] = run
            print(f"{name}: {statistics.median(run['step_us']) / 1e6:.2f} s, estimated {us / 1e6:.2f} s", flush=True)
    with zipfile.ZipFile(runs_of(name_of_record), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, run in runs.items():
            packed.writestr(zipfile.ZipInfo(f"{name}.json"), json.dumps(run, separators=(",", ":")), zipfile.ZIP_DEFLATED)


def estimate(symprof, name, device, exports):
    done = subprocess.run(command_of(symprof, "profile", name, exports, "--device", str(device), "--time", "-q", "--format",
                                     "json"), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    report = json.loads(done.stdout)
    return report["totals"] | report["time"]


def compare(symprof, name_of_record, exports, folder):
    runs = read_runs(runs_of(name_of_record))
    device = folder / f"{name_of_record}.json"
    calibrate(symprof, kernels_of(name_of_record), device, 0)
    rows = []
    for name, run in runs.items():
        time = estimate(symprof, name, device, exports)
        measured = statistics.median(run["step_us"])
        rows.append({"name": name + RECORDS[name_of_record], "measured": measured, "estimate": time["step_time_us"], "low": time["step_time_low_us"],
                     "high": time["step_time_high_us"], "unknown": time.get("unknown_calls", 0)})
    return rows


def print_table(rows):
    print("| step | measured | estimated | off | nine of ten between |")
    print("| --- | ---: | ---: | ---: | --- |")
    for row in rows:
        within = row["low"] <= row["measured"] <= row["high"]
        print(f"| {row['name']} | {row['measured'] / 1e3:.0f} ms | {row['estimate'] / 1e3:.0f} ms "
              f"| {row['estimate'] / row['measured'] - 1:+.1%} | {row['low'] / 1e3:.0f} and {row['high'] / 1e3:.0f} ms"
              f"{'' if within else ', which it is not'} |")


def summary_of(rows):
    off = [abs(row["estimate"] / row["measured"] - 1) for row in rows]
    return {"steps": len(rows), "median": statistics.median(off), "worst": max(off),
            "within": sum(row["low"] <= row["measured"] <= row["high"] for row in rows),
            "half width": statistics.median(math.sqrt(row["high"] / row["low"]) - 1 for row in rows)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("symprof")
    parser.add_argument("--record", choices=RECORDS)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--only", nargs="*", default=list(STEPS))
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if given.record:
            return record(given.symprof, given.record, given.minutes, given.only, folder)
        exports = folder / "exports"
        record_runs.unpack_exports(exports)
        rows = [row for name in RECORDS for row in compare(given.symprof, name, exports, folder)]
    print_table([row for row in rows if not row["unknown"]])
    for row in rows:
        if row["unknown"]:
            print(f"\n{row['name']}: measured {row['measured'] / 1e3:.0f} ms; {row['unknown']} calls have no estimate", end="")
    summary = summary_of([row for row in rows if not row["unknown"]])
    print(f"\n{summary['steps']} steps: off by {summary['median']:.1%} in the median, {summary['worst']:.1%} at most; "
          f"{summary['within']} in their interval, which is ±{summary['half width']:.0%} in the median")
    if given.check:
        sys.exit(summary["median"] > 0.10 or summary["worst"] > 0.25 or
                 not 0.85 <= summary["within"] / summary["steps"] <= 0.95)


if __name__ == "__main__":
    main()
