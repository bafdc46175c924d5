"""Calibrates from one trace of a GPU and judges on the others of the same GPU, whose kernels no fit saw.

    python scripts/time/judge_traces.py DATA [--traces FOLDER] --work FOLDER

DATA/ops_kineto.csv has the rows of public traces; each becomes a trace again: one operator, one launch, one kernel.
FOLDER may have whole traces beside them. A device is taken without its own times, as one that nobody measured, and with
them. Errors are of kernels with sizes that the calibration did not have."""
import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ROOT / "build" / "release" / "bin"
DEVICES = {"NVIDIA H100 80GB HBM3": "h100", "NVIDIA A100-PCIE-40GB": "a100-40g-pcie", "Tesla T4": "t4",
           "NVIDIA GeForce RTX 4090": "rtx4090"}
TYPES = {"BFloat16": "c10::BFloat16", "Half": "c10::Half"}


def arguments_of(row):
    """The arguments as the profiler writes them."""
    dims, values = json.loads(row["dims"]), json.loads(row["concrete"])
    types = [TYPES.get(name, name) for name in row["dtypes"].split(";")]
    strides = [0] * len(dims) if row["strides"] == "c" else json.loads(row["strides"])
    return {"Input Dims": dims, "Input type": types, "Concrete Inputs": values,
            "Input Strides": [known or contiguous(sizes) for known, sizes in zip(strides, dims, strict=True)]}


def contiguous(sizes):
    if sizes and isinstance(sizes[0], list):
        return [contiguous(one) for one in sizes]
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def trace_of(rows, gpu):
    events, now = [], 1000.0
    for index, row in enumerate(rows, 1):
        us = float(row["us_median"])
        common = {"ph": "X", "ts": now}
        events += [
            {**common, "cat": "cpu_op", "name": row["op"], "pid": 1, "tid": 1, "dur": 10,
             "args": {"External id": index, **arguments_of(row)}},
            {**common, "ts": now + 1, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "dur": 2,
             "args": {"correlation": index}},
            {**common, "ts": now + 20, "cat": "kernel", "name": row["kernels"], "pid": 0, "tid": 7, "dur": us,
             "args": {"correlation": index, "device": 0, "stream": 7}}]
        now += us + 100
    return {"deviceProperties": [{"id": 0, "name": gpu}], "traceEvents": events}


def traces_of(data, folder):
    """By GPU, the paths of its traces."""
    found = {}
    rows = [row for row in csv.DictReader((data / "ops_kineto.csv").open()) if row["strides"] and row["concrete"]
            and row["gpu"] in DEVICES and float(row["overlap"]) == 0]
    for name in sorted({row["trace"] for row in rows}):
        own = [row for row in rows if row["trace"] == name]
        path = folder / f"{name}.json"
        path.write_text(json.dumps(trace_of(own, own[0]["gpu"])))
        found.setdefault(DEVICES[own[0]["gpu"]], []).append(path)
    return found


def without_times(device, folder):
    """The device as one that nobody measured."""
    spec = json.loads((ROOT / "devices" / f"{device}.json").read_text())
    spec.pop("kernel_times", None)
    spec["name"] = f"{device}-sheet"
    for key in ("kernel_clocks", "links"):
        if key in spec:
            spec[key] = str(ROOT / "devices" / spec[key])
    path = folder / f"{device}-sheet.json"
    path.write_text(json.dumps(spec))
    return path


def rows_of(device, trace):
    text = subprocess.run([PROGRAMS / "symprof_time_rows", "trace", device, trace], capture_output=True, text=True)
    rows = list(csv.DictReader(text.stdout.splitlines(), delimiter=";", quoting=csv.QUOTE_NONE))
    return {(row["class"], row["work"]): row for row in rows}


def figures(rows):
    """Median and 90th percentile of the error in per cent, the share inside, the error of all calls' sum."""
    if not rows:
        return None
    errors = sorted(abs(float(row["estimate"]) / float(row["us"]) - 1) * 100 for row in rows)
    inside = sum(float(row["low"]) <= float(row["us"]) <= float(row["high"]) for row in rows)
    sums = [sum(float(row[key]) * int(row["calls"]) for row in rows) for key in ("estimate", "us")]
    return (len(rows), statistics.median(errors), errors[int(0.9 * (len(errors) - 1))], 100 * inside / len(rows),
            (sums[0] / sums[1] - 1) * 100, statistics.median(float(row["high"]) / float(row["estimate"]) - 1
                                                            for row in rows) * 100)


def text_of(found):
    return "-" if found is None else "{:4d}  {:6.1f} / {:6.1f}  {:4.0f} %  {:+6.1f} %  ±{:.0f} %".format(*found)


def judge(base, like, traces, work, totals):
    for source in traces:
        target = work / f"{source.name.split('.')[0]}-{like.stem if isinstance(like, pathlib.Path) else like}.json"
        done = subprocess.run([PROGRAMS / "symprof", "calibrate", "--from", source, "--like", like, "-o", target, "-q"],
                              capture_output=True, text=True)
        if done.returncode:
            print(f"{source.name}: {done.stderr.splitlines()[0]}")
            continue
        seen = set(rows_of(like, source))
        classes = {key[0] for key in seen}
        for judged in traces:
            if judged == source:
                continue
            before, after = rows_of(like, judged), rows_of(target, judged)
            new = [key for key in after if key not in seen and key in before and key[0] in classes]
            totals.setdefault(base, []).extend((before[key], after[key]) for key in new)
            print(f"{base:22} {source.name.split('.')[0][:22]:22} {judged.name.split('.')[0][:22]:22} "
                  f"{text_of(figures([before[key] for key in new]))}  ->  {text_of(figures([after[key] for key in new]))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--traces", type=pathlib.Path, help="a folder for each device (h100) with whole traces")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(exist_ok=True)
    found, totals = traces_of(options.data, options.work), {}
    for folder in sorted(options.traces.iterdir()) if options.traces else []:
        found[folder.name] = sorted(folder.iterdir())
    for device, traces in found.items():
        for base, like in ((f"{device} (data sheet)", without_times(device, options.work)), (device, device)):
            judge(base, like, traces, options.work, totals)
    for base, rows in totals.items():
        widths = sorted(abs(math.log(float(after["us"]) / float(after["estimate"])))
                        / math.log(float(after["high"]) / float(after["estimate"])) for _, after in rows)
        print(f"{base:22} nine of ten errors are within {widths[int(0.9 * (len(widths) - 1))]:.2f} half widths")
        for one in sorted({before["class"] for before, _ in rows}) + [""]:
            chosen = [pair for pair in rows if one in ("", pair[0]["class"])]
            print(f"{base:22} {one or 'all':18} {text_of(figures([b for b, _ in chosen]))}  ->  "
                  f"{text_of(figures([a for _, a in chosen]))}")


if __name__ == "__main__":
    main()
