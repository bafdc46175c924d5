#!/usr/bin/env python3
"""symprof beside PyTorch's Python tools on the same models, in one run on one machine.

Usage: benchmarks/compare.py BUILD_FOLDER [--python PYTHON] [-o RESULT.json]
BUILD_FOLDER was built with the preset `bench`. PYTHON has the packages of requirements-models.txt;
without it the Python column stays empty. Prints a Markdown table; medians, spread as (min-max)."""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["vit_b_16", "resnet50", "gpt2", "bert_base", "llama_7b"]


def in_process(build):
    """Milliseconds by benchmark name: median and deviation over 10 repetitions."""
    text = subprocess.run([build / "bin/symprof_benchmark", "--benchmark_format=json"], check=True,
                          capture_output=True, text=True).stdout
    result = {}
    for row in json.loads(text)["benchmarks"]:
        name = row["run_name"].split("/min")[0]
        result.setdefault(name, {})[row["aggregate_name"]] = row["real_time"]
    return result


def whole_command(command, runs=15):
    """Wall seconds of each run and the peak resident memory of the process in MiB."""
    seconds, peak = [], 0
    for i in range(runs + 1):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{command} failed")
        if i:
            seconds.append(time.perf_counter() - start)
            peak = max(peak, usage.ru_maxrss / 1024)
    return {"seconds": seconds, "peak_mib": peak}


def python_seconds(python, name, repetitions=3):
    if python is None:
        return None
    run = subprocess.run([python, ROOT / "benchmarks/python_baseline.py", name, str(repetitions)],
                         capture_output=True, text=True)
    if run.returncode:
        print(f"{name}: {run.stderr.splitlines()[-1] if run.stderr else 'failed'}", file=sys.stderr)
        return None
    return json.loads(run.stdout.splitlines()[-1])["seconds"]


def spread(values, scale=1.0, unit=""):
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle * scale:.1f} ({low * scale:.1f}-{high * scale:.1f}){unit}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--python")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()

    times = in_process(options.build)
    empty = whole_command([options.build / "bin/empty_libtorch_program"])
    result = {"machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
              "in_process_ms": times, "empty_libtorch_program": empty, "models": {}}
    print("| model | read, ms | profile, ms | both, ms | Python, ms | times faster | whole command, ms | peak, MiB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in MODELS:
        path = f"{name}.pt2"
        command = whole_command([options.build / "bin/symprof", "profile", ROOT / "models" / path])
        python = python_seconds(options.python, name)
        result["models"][name] = {"command": command, "python_seconds": python}
        cells = [f"{times[k + '/' + path]['median']:.1f} ± {times[k + '/' + path]['stddev']:.1f}"
                 for k in ("read", "profile", "read_and_profile")]
        both = times["read_and_profile/" + path]["median"]
        faster = f"{statistics.median(python) * 1000 / both:.0f}" if python else ""
        print(f"| {name} | {' | '.join(cells)} | {spread(python, 1000) if python else ''} | {faster} "
              f"| {spread(command['seconds'], 1000)} | {command['peak_mib']:.0f} |", flush=True)
    for name in ("vit_b_16", "llama_7b"):
        step, timed = times[f"step/{name}.pt2"], times[f"step_and_time/{name}.pt2"]
        print(f"\n{name}, a step with AdamW: {step['median']:.1f} ± {step['stddev']:.1f} ms; with its times "
              f"{timed['median']:.1f} ± {timed['stddev']:.1f} ms ({timed['median'] / step['median'] - 1:+.0%})")
        fit = times[f"fit/{name}.pt2"]
        print(f"\n{name}, read, a step with AdamW and autocast, `plan::fit`, in process: {fit['median']:.1f} ± {fit['stddev']:.1f} ms")
    print(f"\nAn empty program linked to LibTorch: {spread(empty['seconds'], 1000)} ms, {empty['peak_mib']:.0f} MiB")
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
