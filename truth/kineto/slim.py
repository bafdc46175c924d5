#!/usr/bin/env python3
"""Cuts profiler traces down to what symprof reads of them: ranges of the host, calls of CUDA, what the device did.

    slim.py FOLDER_OF_TRACES truth/kineto/data

Names, times, ids, shapes and the order of events stay as they were recorded. Left out: instants, flows, metadata,
Python frames, call stacks, and the arguments of kernels that say how busy a multiprocessor was."""
import gzip
import json
import pathlib
import sys

CATEGORIES = {"cpu_op", "Operator", "user_annotation", "cuda_runtime", "cuda_driver", "Runtime", "kernel", "Kernel",
              "gpu_memcpy", "Memcpy", "gpu_memset", "Memset"}
ARGUMENTS = {"External id", "external id", "Sequence number", "Fwd thread id", "Input Dims", "Input type", "Input Strides",
             "Concrete Inputs", "correlation", "device", "stream"}


def slim(trace):
    events = []
    for event in trace["traceEvents"]:
        if event.get("ph") != "X" or event.get("cat") not in CATEGORIES:
            continue
        kept = {key: event[key] for key in ("ph", "cat", "name", "pid", "tid", "ts", "dur") if key in event}
        kept["args"] = {key: value for key, value in event.get("args", {}).items() if key in ARGUMENTS}
        events.append(kept)
    devices = [{"name": device["name"]} for device in trace.get("deviceProperties", [])[:1]]
    return {"deviceProperties": devices, "traceEvents": events}


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    for path in sorted(source.glob("*.json.gz")):
        text = json.dumps(slim(json.loads(gzip.decompress(path.read_bytes()))), separators=(",", ":"))
        (target / path.name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
