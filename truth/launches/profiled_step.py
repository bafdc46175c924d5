#!/usr/bin/env python3
"""Holds an unmodified torch.profiler to what PyTorch's CUDA build really launched, without a GPU.

Usage: profiled_step.py PYTHON --torch TORCH --cuda CUDA_INCLUDE [--fakes FOLDER]

PYTHON has the CUDA build of 2.13.0 installed, whose folder is TORCH (fakes.py says how to get it). A
training step runs under torch.profiler on the GPU that computes nothing. Each launch, copy and fill
that operations.cpp logged meanwhile has to be in the trace, with its made-up duration and its call
inside of the operator that calls.cpp saw. So the CUPTI that measured_steps.py believes is one that
Kineto believes, too. Kineto asks for times in the processor's ticks and converts a record's two ends
back, so that a duration may be a nanosecond off; two operations are 7 ns apart."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import fakes

ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")
ROUNDING_NS = 1


def record(trace):
    sys.modules["triton"] = None
    import torch
    from torch.profiler import ProfilerActivity, profile

    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, norm_first=True)
    model = torch.nn.Sequential(layer, torch.nn.Linear(256, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    inputs = torch.empty(8, 128, 256, device="cuda")
    labels = torch.zeros(8 * 128, dtype=torch.long, device="cuda")

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(inputs).view(-1, 10), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        step()
    profiler.export_chrome_trace(trace)


def is_frame(name):
    """As operations.cpp: what calls operators is none."""
    return "::" not in name or name.startswith(("autograd::", "torch::"))


def operator_of(call, operators):
    """The outermost operator of the call's thread around it."""
    around = [event for event in operators if event["tid"] == call["tid"] and event["ts"] <= call["ts"] and
              event["ts"] + event["dur"] >= call["ts"] + call["dur"] and not is_frame(event["name"])]
    return min(around, key=lambda event: event["ts"])["name"] if around else "-"


def differences(events, logged):
    events = [event for event in events if event.get("ph") == "X"]
    operators = [event for event in events if event.get("cat") == "cpu_op"]
    calls = {event["args"]["correlation"]: event for event in events if event.get("cat") in ("cuda_runtime", "cuda_driver")}
    in_trace = {}
    for event in (event for event in events if event.get("cat") in ON_GPU):
        in_trace.setdefault(event["args"]["correlation"], []).append(event)
    for correlation, operations in logged.items():
        durations = sorted(round(event["dur"] * 1000) for event in in_trace.get(correlation, []))
        wanted = sorted(int(operation["ns"]) for operation in operations)
        where = f"{operations[0]['name'][:60]} in {operations[0]['op']}"
        if len(durations) != len(wanted) or any(abs(a - b) > ROUNDING_NS for a, b in zip(durations, wanted)):
            yield f"{where}: the trace has {durations} ns, not {wanted}"
        elif correlation not in calls:
            yield f"{where}: no call"
        elif (found := operator_of(calls[correlation], operators)) != operations[0]["op"]:
            yield f"{where}: the trace has it in {found}"


def logged_of(log, correlations):
    """The operations since the profiler began, by their correlation."""
    keys = ("correlation", "kind", "ns", "stream", "direction", "op", "name")
    lines = [line for line in log.splitlines() if line != "flush"]
    found = {}
    for line in lines:
        operation = dict(zip(keys, line.split("\t")))
        if int(operation["correlation"]) >= min(correlations):
            found.setdefault(int(operation["correlation"]), []).append(operation)
    return found


def main():
    options = fakes.argument_parser(__doc__, "python").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        variables = fakes.variables_of(options, folder)
        trace, log = pathlib.Path(folder) / "trace.json", pathlib.Path(folder) / "launches"
        done = subprocess.run([options.python, __file__, "--record", str(trace)],
                              env={**os.environ, **variables, "FAKE_LAUNCH_LOG": str(log)})
        if done.returncode != 0:
            sys.exit("the profiled step failed")
        events = json.loads(trace.read_text())["traceEvents"]
        correlations = [event["args"]["correlation"] for event in events if event.get("cat") in ON_GPU]
        if not correlations:
            sys.exit("the trace has no work of a GPU")
        logged = logged_of(log.read_text(), correlations)
    found = list(differences(events, logged))
    print(*found[:10], sep="\n", end="\n" if found else "")
    print(f"{sum(map(len, logged.values()))} operations were asked for, {len(correlations)} are in the trace, {len(found)} differ")
    sys.exit(bool(found) or sum(map(len, logged.values())) != len(correlations))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2])
    else:
        main()
