#!/usr/bin/env python3
"""Writes lifetimes/helpers/: eager peaks of modules whose exports do not tell all lifetimes.

Usage: python truth/helpers.py [NAME ...]     (lifetimes/README.md has the fields)
Exports each module of helpers_models.py (`.pt2`, traced `.pt`, some as `.onnx`) and records the
forward pass of the eager module, as lifetimes.py does.
"""
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
RESULT = HERE / "lifetimes" / "helpers" / "eager.json"
IN_ONNX = ("one_line_loop", "unpacked", "containers_in_list")
sys.path.insert(0, str(HERE.parent / "models"))


def measure_one(name):
    import fake_cuda

    fake_cuda.load()  # before torch
    warnings.filterwarnings("ignore")
    import lifetimes
    import pt2_file
    import pt_file
    import torch
    from helpers_models import MODELS

    torch.set_num_threads(1)
    module, inputs = MODELS[name]()
    program = pt2_file.export(module, inputs, "eval")
    pt2_file.write(program, RESULT.parent / f"{name}.pt2", False)
    if name in IN_ONNX:
        lifetimes.write_onnx(program, RESULT.parent / f"{name}.onnx")
    module, inputs = MODELS[name]()
    pt_file.write(pt_file.trace(module, inputs, "eval"), RESULT.parent / f"{name}_traced.pt", True)
    found = lifetimes.record(*MODELS[name]())
    del found["live_bytes"]
    return found


def names():
    from helpers_models import MODELS

    return MODELS


if __name__ == "__main__":
    from lifetimes import measure_each

    measure_each(__file__, RESULT, names, measure_one)
