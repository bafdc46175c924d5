#!/usr/bin/env python3
"""What the torch of this interpreter says about the models, on fake CUDA tensors: FlopCounterMode and saved_tensors_hooks.

Usage: reference.py FOLDER     writes FOLDER/reference.json, and FOLDER/NAME.pt2 as this torch exports it
Needs torchvision and g++. symprof has no part in it."""
import json
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import fake_cuda

fake_cuda.load()  # Before torch.

import fake_models
import measure
import torch
from models import EXPORTED, FIGURES, NAMES, SCRIPT, build
from torch._subclasses.fake_tensor import FakeTensorMode


def figures(module, inputs):
    mover = fake_models.Mover(None)
    with FakeTensorMode():
        mover.module(module)
        inputs = tuple(mover.tensor(x) for x in inputs)
        found = {**measure.static_sizes(module, inputs), **measure.flops(module, inputs), **measure.saved(module, inputs)}
        calls = measure.calls(module, inputs)
    return {name: found[name] for name in FIGURES} | {name: calls[name] for name in ("fwd_calls_by_op", "bwd_calls_by_op")}


def exported(name, file):
    module, inputs = build(name)
    program = torch.export.export(module.train(), inputs, strict=False)
    torch.export.save(program, file)
    try:
        return figures(fake_models.runnable(program), inputs)
    except ValueError as error:  # What is exported on a CPU need not run on a GPU, whose kernels have other strides.
        return {"refused": str(error)}


def main():
    warnings.filterwarnings("ignore")
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False  # autocast and GradScaler ask for a GPU.
    torch.set_num_threads(1)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in (*NAMES, SCRIPT.name):
        module, inputs = build(name)
        found[name] = figures(module.train(), inputs)
    for name in EXPORTED:
        found[f"{name}.pt2"] = exported(name, folder / f"{name}.pt2")
    (folder / "reference.json").write_text(json.dumps({"torch": torch.__version__, "models": found}, indent=1))


if __name__ == "__main__":
    main()
