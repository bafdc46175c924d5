#!/usr/bin/env python3
"""Writes truth/operator_samples/calls.jsonl: ATen calls and what PyTorch answers (README.md).

Usage: python truth/operator_samples/make_samples.py [--only NAME] [--differences FILE]
Needs torch 2.13.0 with numpy, scipy and expecttest, and a C++ compiler.
"""
import argparse
import collections
import contextlib
import io
import json
import logging
import pathlib
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import fake_cuda

force_attention = fake_cuda.load()  # before torch

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import choose
import cuda_truth
import fake_device
import workload
from recorder import Recorder

CALLS_OF_AN_OPERATOR = 14
CANDIDATES_OF_AN_OPERATOR = 250


class Collection:
    """Distinct calls by operator."""

    def __init__(self):
        self.calls = collections.defaultdict(dict)

    def take(self, call):
        lines = self.calls[call.name]
        if len(lines) < CANDIDATES_OF_AN_OPERATOR or call.raised:
            lines.setdefault(call.line())


def run_quietly(run):
    """Samples that cannot run (error inputs, functions without a gradient) leave their calls."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        run()


def record_on_cpu(only):
    collection = Collection()
    recorder = Recorder(collection.take)
    for name, runs in workload.sources():
        if only and only not in name:
            continue
        begin = time.time()
        torch.manual_seed(0)
        with contextlib.suppress(Exception):
            for run in runs():
                with recorder:
                    run_quietly(run)
        if time.time() - begin > 20:
            print(f"{name}: {time.time() - begin:.0f} s", file=sys.stderr)
    return collection


def record_on_fake_device(only):
    """The calls that autograd and composite operators make on a GPU only."""
    collection = Collection()
    for name, runs in cuda_truth.sources(force_attention):
        if only and only not in name:
            continue
        with contextlib.suppress(Exception):
            for run in runs():
                with FakeTensorMode(), Recorder(collection.take):
                    run_quietly(run)
    return collection


def with_device_truth(line, differences):
    """The line with the answer of a GPU; None where the test has nothing to hold on to."""
    record = json.loads(line)
    if not cuda_truth.takes(record):
        return None
    try:
        device = fake_device.answer(record)
    except Exception as error:  # a call that cannot be rebuilt says nothing
        differences.write(f"cannot rebuild: {error}\n  {line}\n")
        device = None
    if device == "unknown" and record["op"] in cuda_truth.KNOWN_SIZES:
        return line
    if device == "unknown":
        record.pop("raises", None)
        record["outs"] = "unknown"
        return json.dumps(record, separators=(",", ":"))
    if record.get("raises"):
        # An error that PyTorch's own fake tensors do not see depends on values or on the CPU.
        return line if device is not None and device.raised else None
    if device is None:
        return line
    answer = device.line()
    if answer == line:
        return line
    differences.write(f"{line}\n  {'raises' if device.raised else json.loads(answer)['outs']}\n")
    if record["op"] in cuda_truth.DIFFERS_ON_CUDA:
        return None if device.raised else answer
    return line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", help="samples whose name contains this")
    parser.add_argument("--differences", default="/dev/null", help="where CPU and fake CUDA differ")
    parser.add_argument("--output", default=HERE / "calls.jsonl", type=pathlib.Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)  # FakeTensorMode logs every error that a sample wants to see
    torch.set_num_threads(1)
    recorded = record_on_cpu(options.only).calls
    print(f"{len(recorded)} operators on the CPU", file=sys.stderr)
    on_device = record_on_fake_device(options.only).calls
    lines = []
    with open(options.differences, "w") as differences:
        for op in sorted(recorded):
            if cuda_truth.runs_on_cuda(op):
                chosen = choose.most_different(recorded[op], CALLS_OF_AN_OPERATOR)
                kept = (with_device_truth(line, differences) for line in chosen)
                lines.extend(line for line in kept if line is not None)
    for op in sorted(on_device):
        if op not in recorded:
            answered = (line for line in on_device[op] if not json.loads(line).get("raises"))
            lines.extend(choose.most_different(answered, CALLS_OF_AN_OPERATOR))
    options.output.write_text("".join(line + "\n" for line in sorted(lines)))
    print(f"{len(lines)} calls, {options.output.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
