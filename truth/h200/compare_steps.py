#!/usr/bin/env python3
"""Compares the estimated time of whole training steps with what an H200 took: kernel_record/, kernel_record_2/.

usage: compare_steps.py SYMPROF [--check]

No fit saw these steps but for the host's times, HOST below, which are those of the virtual machines that recorded: a launch
as in 237 single calls of recurrent layers (alone_host_ns in kernel_record_2), a call as in the four steps that only the
host holds up (ConvNeXt, ViT, Swin, BERT under autocast; each predicted from the other three: 2.9 % off at most). --check
fails where the estimates are further off than is said below. Busy is the time in which the device runs a kernel, with the
profiler; step is a step's whole time, without it."""
import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from kernels import storage  # noqa: E402

OPTIMIZERS = {"sgd": "sgd_momentum:foreach", "adam_foreach": "adam:foreach", "adamw_foreach": "adamw:foreach",
              "adamw_fused": "adamw:fused"}

# In per cent. The exceptions: a host that was faster than the constants say, and grouped convolutions in rows.
MEDIAN_BOUND, WORST_BOUND, FEWEST_INSIDE = 4.1, 13, 17
EXCEPTIONS = {"mobilenet_v2_autocast": 40, "resnext50_float32": 20}


HOST = {"host_call_us": 30.6, "host_launch_us": 9}


def device_with_that_host(folder):
    devices = HERE.parent.parent / "devices"
    for name in ("time", "clocks"):
        (pathlib.Path(folder) / name).symlink_to(devices / name)
    path = pathlib.Path(folder) / "h200.json"
    path.write_text(json.dumps({**json.loads((devices / "h200.json").read_text()), **HOST}))
    return path


def estimate(symprof, device, path, recipe):
    command = [symprof, "profile", str(path), "--device", str(device), "--time", "--format", "json", "-q",
               "--optimizer", OPTIMIZERS[recipe["optimizer"]]]
    if recipe["autocast"]:
        command += ["--autocast", {"bfloat16": "bf16"}[recipe["autocast"]]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{path.name}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measured_phases(step):
    """Kernel time by phase, in ns."""
    strings, calls, kernels = step["strings"], step["calls"], step["kernels"]
    sums = collections.Counter()
    for call, duration in zip(kernels["call"], kernels["duration_ns"]):
        sums[strings[calls["phase"][call]] if call >= 0 else "none"] += duration
    return sums


def rows(symprof):
    with tempfile.TemporaryDirectory() as folder:
        device, models = device_with_that_host(folder), []
        for record in ("kernel_record", "kernel_record_2"):
            with zipfile.ZipFile(HERE / record / "programs.zip") as programs:
                programs.extractall(folder)
            models += storage.read_document(HERE / record / "steps.json.gz")["models"]
        for model in models:
            report = estimate(symprof, device, pathlib.Path(folder) / f"{model['model']}.pt2", model)
            busy = statistics.median(step["totals"]["busy_ns"] for step in model["profiled"])
            yield model, report, busy, model["timed"]["step_ns"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("symprof")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    busy_errors, step_errors, inside, too_far = [], [], 0, []
    print("| model | busy, ms | estimate | error | step, ms | estimate | error | within its interval |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for model, report, busy, step in rows(options.symprof):
        totals, time = report["totals"], report["time"]
        estimated_busy = 1e3 * sum(totals[f"{part}_time_us"] for part in ("fwd", "bwd", "optimizer"))
        estimated_step = totals["step_time_us"] * 1e3
        busy_errors.append(abs(estimated_busy / busy - 1))
        step_errors.append(abs(estimated_step / step - 1))
        if 100 * step_errors[-1] > EXCEPTIONS.get(model["model"], WORST_BOUND):
            too_far.append(model["model"])
        holds = time["step_time_low_us"] * 1e3 <= step <= time["step_time_high_us"] * 1e3
        inside += holds
        print(f"| {model['model']} | {busy / 1e6:.2f} | {estimated_busy / 1e6:.2f} | {estimated_busy / busy - 1:+.1%} | "
              f"{step / 1e6:.2f} | {estimated_step / 1e6:.2f} | {estimated_step / step - 1:+.1%} | {'yes' if holds else 'no'} |")
    print(f"\nbusy: median {statistics.median(busy_errors):.1%}, worst {max(busy_errors):.1%}; step: median "
          f"{statistics.median(step_errors):.1%}, worst {max(step_errors):.1%}, within its interval {inside} of {len(step_errors)}")
    if options.check and (too_far or inside < FEWEST_INSIDE or 100 * statistics.median(step_errors) > MEDIAN_BOUND):
        sys.exit(f"further off than before: {', '.join(too_far) or 'median or interval'}")


if __name__ == "__main__":
    main()
