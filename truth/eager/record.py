#!/usr/bin/env python3
"""Asks PyTorch for its figures of the models of models.py, as modules on fake CUDA tensors.

Usage: record.py FOLDER [--models NAME,…] [--steps NAME,…] [--limit SECONDS] [--again]

Each step of a model is a process of its own, forked from this one; its result is FOLDER/<model>.<step>.json, and what is
there already is not done again. The figures are those of truth/foreign/figures.py. compare.py compares symprof with them.
"""
import argparse
import contextlib
import functools
import itertools
import os
import pathlib

import models  # The folders of truth are on the path from here on.
import catalog
import fake_cuda
import stages


# What they read does not depend on data: the times of a solver, a mask that the module makes of zeros.
READING_WHAT_THEY_MAKE = ("neural_ode", "video_diffusion")


def numbers_that_are_read(name, step):
    """In one step of the module with memory, on the CPU, in order."""
    import figures
    import measure
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    numbers = []

    class Reads(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func is torch.ops.aten._local_scalar_dense.default:
                numbers.append(result)
            return result

    call = figures.Call(*models.build(name, step)).train(step != "inference")
    with Reads():
        (measure.inference_step if step == "inference" else measure.training_step)(call, call.inputs)
    return numbers


@contextlib.contextmanager
def answering_as_a_device(numbers=(1,)):
    """A module on a device has numbers: where it reads one, it gets the next of these, again and again. 1 is what symprof
    lets stand for a number of the data. Nothing tells the module that its tensors are fake."""
    import torch
    import transformers.utils.import_utils as questions
    from torch._subclasses import fake_impls

    numbers = itertools.cycle(numbers)
    fake_impls.op_implementations_dict[torch.ops.aten._local_scalar_dense.default] = lambda *call: next(numbers)
    questions.is_fake_tensor = lambda tensor: False
    torch.cuda.get_device_capability = lambda device=None: (9, 0)
    yield


def measure_one(name, step):
    import figures
    from architectures import ARCHITECTURES

    figures.FORMULAS.update(stages.formulas())
    call = figures.Call(*models.build(name, step))
    numbers = numbers_that_are_read(name, step) if name in READING_WHAT_THEY_MAKE else (1,)
    with answering_as_a_device(numbers):
        found = figures.of(call, call.inputs, "fp32" if step == "bf16" else step, earlier=1)
    if step != "inference" and name in ARCHITECTURES and stages.has_recurrent_layer(name):
        found.update(stages.flops_without_cudnn(name, "train"))
    return found


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
    catalog.prepare_packages()
    for name in args.models.split(",") if args.models else models.names():
        for step in args.steps.split(","):
            child = stages.Child(name, args.folder, args.limit, ("torch",), os.devnull)
            if args.again or not child.result(step).exists():
                child.run(step, functools.partial(measure_one, name, step))


if __name__ == "__main__":
    main()
