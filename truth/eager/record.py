#!/usr/bin/env python3
"""Asks PyTorch for its figures of the models of models.py, as modules on fake CUDA tensors.

Usage: record.py FOLDER [--models NAME,…] [--steps NAME,…] [--limit SECONDS] [--again]

Each step of a model is a process of its own, forked from this one; its result is FOLDER/<model>.<step>.json, and what is
there already is not done again. The figures are those of truth/foreign/figures.py. compare.py compares symprof with them.
"""
import argparse
import contextlib
import json
import os
import pathlib
import time
import warnings

import models  # The folders of truth are on the path from here on.
import fake_cuda


@contextlib.contextmanager
def answering_as_a_device():
    """A module on a device has numbers: where it reads one, this is the one that symprof lets stand for it, and nothing
    tells it that its tensors are fake."""
    import torch
    import transformers.utils.import_utils as questions
    from torch._subclasses import fake_impls

    fake_impls.op_implementations_dict[torch.ops.aten._local_scalar_dense.default] = lambda mode, func, *args: 1
    questions.is_fake_tensor = lambda tensor: False
    torch.cuda.get_device_capability = lambda device=None: (9, 0)
    yield


def measure_one(name, step):
    import figures
    import stages
    import torch
    from architectures import ARCHITECTURES

    figures.FORMULAS.update(stages.formulas())
    call = figures.Call(*models.build(name, step))
    with answering_as_a_device():
        found = figures.of(call, call.inputs, "fp32" if step == "bf16" else step)
    if step != "inference" and name in ARCHITECTURES and stages.has_recurrent_layer(name):
        found.update(stages.flops_without_cudnn(name, "train"))
    return found


def run_one(result, name, step, limit):
    import stages

    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        if status:
            result.write_text(json.dumps({"failed": f"ended with status {status} (limit: {limit} s)"}) + "\n")
        print(step, name, json.loads(result.read_text()).get("failed", "ok"), flush=True)
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    stages.limit_processor_time(limit)
    start = time.process_time()
    found = stages.attempt(lambda: measure_one(name, step))
    result.write_text(json.dumps({**found, "seconds": round(time.process_time() - start, 1)}, indent=1) + "\n")
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--models")
    parser.add_argument("--steps", default=",".join(models.STEPS))
    parser.add_argument("--limit", type=int, default=200, help="processor seconds of one step")
    parser.add_argument("--again", action="store_true", help="also what has a result")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    fake_cuda.load()  # before torch
    warnings.filterwarnings("ignore")
    import torch
    import zoo  # lets torchvision be imported without its compiled operators

    import transformers.integrations.executorch as caches

    assert zoo.TORCHVISION_OPERATORS
    caches.register_dynamic_cache_export_support()
    torch.set_num_threads(1)
    for name in args.models.split(",") if args.models else models.names():
        for step in args.steps.split(","):
            result = args.folder / f"{name}.{step}.json"
            if args.again or not result.exists():
                run_one(result, name, step, args.limit)


if __name__ == "__main__":
    main()
