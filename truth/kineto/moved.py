#!/usr/bin/env python3
"""Kernels that expected.json's rule puts into another phase than the one they ran in, and how long they took.

    moved.py > truth/kineto/moved.json

Two causes, each asked of the trace by itself:
- PyTorch 1.9: the engine's own sums (of gradients that meet, over a bias' rows) have no frame around them. The thread
  runs nothing but backward, and the rule, which looks for frames, says forward.
- Compiled code copies the inputs of its CUDA graph with _foreach_copy_: the rule takes that name for an update."""
import gzip
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
NODE = re.compile(r"^\w*Backward\d*$|^autograd::engine|AccumulateGrad$|^torch::autograd::CppNode")


def around(operators, call):
    end = call["ts"] + call["dur"]
    return [op["name"] for op in operators.get((str(call["pid"]), str(call["tid"])), [])
            if op["ts"] <= call["ts"] and op["ts"] + op["dur"] >= end]


def moved(events):
    operators, threads_of_step = {}, set()
    for event in events:
        if event["cat"] in ("cpu_op", "Operator", "user_annotation"):
            key = (str(event["pid"]), str(event["tid"]))
            operators.setdefault(key, []).append(event)
            if event["name"].startswith("ProfilerStep#"):
                threads_of_step.add(key)
    calls = {event["args"]["correlation"]: event for event in events if event["cat"] in
             ("cuda_runtime", "cuda_driver", "Runtime") and "correlation" in event["args"]}
    sums = {}
    for event in events:
        call = calls.get(event["args"].get("correlation")) if event["cat"] in ("kernel", "Kernel") else None
        names = around(operators, call) if call else []
        if not names:
            continue
        has_frame = any(NODE.search(name) for name in names)
        key = None
        if (str(call["pid"]), str(call["tid"])) not in threads_of_step and not has_frame:
            key = ("forward", "backward")
        elif "CompiledFunction" in names and "aten::_foreach_copy_" in names and not has_frame:
            key = ("optimizer", "forward")
        if key:
            count, us = sums.get(key, (0, 0))
            sums[key] = (count + 1, us + event["dur"])
    return [{"from": a, "to": b, "kernels": count, "us": round(us, 3)} for (a, b), (count, us) in sums.items()]


def main():
    result = {path.name: moved(json.loads(gzip.decompress(path.read_bytes()))["traceEvents"])
              for path in sorted((FOLDER / "data").glob("*.json.gz"))}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
