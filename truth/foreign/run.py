#!/usr/bin/env python3
"""Exports the models of catalog.py and asks PyTorch for its figures of each.

Usage: run.py FOLDER [--models NAME,…] [--stages NAME,…] [--limit SECONDS] [--again]

Each stage of a model is a process of its own, forked from this one; its result is FOLDER/<model>.<stage>.json, and what
is there already is not done again. Stages: pt2, onnx, pt (traced): the files; fp32, bf16, autocast, inference: the eager
module on fake CUDA tensors; program_fp32, program_autocast: the exported program; program_bf16: that of the module in
bf16; trace_fp32, trace_autocast, trace_bf16: the same of the trace. report.py compares them with symprof.
"""
import argparse
import functools
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
TRUTH = HERE.parent
sys.path[:0] = [str(HERE), str(TRUTH), str(TRUTH / "zoo"), str(TRUTH / "steps"), str(TRUTH.parent / "models")]

import catalog
import fake_cuda

FILES = ("pt2", "onnx", "pt")
STEPS = ("fp32", "bf16", "autocast", "inference")
OF_PROGRAM = ("program_fp32", "program_autocast", "program_bf16")
OF_TRACE = ("trace_fp32", "trace_autocast", "trace_bf16")
NEED_EXPORT = ("pt2", "onnx", "program_fp32", "program_autocast")


def build(model):
    import torch

    torch.manual_seed(0)
    module, args, kwargs = model.build()
    return module.train(), args, kwargs


def cast(model):
    """As `build`, in bf16."""
    import torch
    from torch.utils._pytree import tree_map_only

    module, args, kwargs = build(model)
    to_bf16 = lambda x: x.bfloat16() if x.is_floating_point() else x
    return module.bfloat16(), *tree_map_only(torch.Tensor, to_bf16, (args, kwargs))


@functools.lru_cache(maxsize=1)
def export(model, build=build):
    """Made once for the stages of a model, before they are forked."""
    import torch

    module, args, kwargs = build(model)
    return torch.export.export(module, args, kwargs, strict=False)


def write_pt2(model, path):
    import pt2_file

    pt2_file.write(export(model), path, keep_weights=False)


def write_onnx(model, path):
    """As for the zoo: without the metadata that names calls and lines."""
    import stages

    stages.write_onnx(path.stem, export(model), path)


def write_pt(model, path):
    import figures
    import pt_file

    call = figures.Call(*build(model), as_tuple=True)
    pt_file.write(pt_file.trace(call, tuple(call.inputs), "train"), path, keep_lines=True)


def of_module(model, step):
    import answers
    import figures
    from torch._subclasses.fake_tensor import DataDependentOutputException

    call = figures.Call(*build(model))
    try:
        return figures.of(call, call.inputs, step)
    except DataDependentOutputException:
        real = figures.Call(*(cast if step == "bf16" else build)(model))  # where PyTorch refuses bf16, so does this
        call = figures.Call(*build(model))
        told = answers.of(real, real.inputs, step != "inference")
        return figures.of(call, call.inputs, step, answers=told)


def of_program(model, step):
    """The exported program on the CUDA device. Its mode is in its calls. Its results are a tuple: a cache is put together
    by a function that copies what it is given."""
    import fake_models
    import figures
    from torch.utils._pytree import tree_structure

    in_bf16 = step == "bf16"
    _, args, kwargs = (cast if in_bf16 else build)(model)
    program = export(model, cast) if in_bf16 else export(model)
    module = fake_models.runnable(program).program
    module.train = lambda mode=True: module
    module._out_spec = tree_structure((None,) * module._out_spec.num_leaves)
    call = figures.Call(module, args, kwargs)
    return figures.of(call, call.inputs, "fp32" if in_bf16 else step)


def of_trace(model, step):
    """The calls of a trace on the CUDA device; in bf16 that of the module in bf16."""
    import figures
    import pt_file
    import traced_program

    call = figures.Call(*(cast if step == "bf16" else build)(model), as_tuple=True)
    traced = pt_file.trace(call, tuple(call.inputs), "train")
    return figures.of_trace(traced_program.TracedProgram(traced), call.inputs, step)


def step_of(stage, model, path):
    if stage in FILES:
        return functools.partial(globals()[f"write_{stage}"], model, path)
    if stage in OF_TRACE:
        return functools.partial(of_trace, model, stage.removeprefix("trace_"))
    measured = of_program if stage in OF_PROGRAM else of_module
    return functools.partial(measured, model, stage.removeprefix("program_"))


def run_one(folder, name, model, stage, limit):
    import stages

    if stage in NEED_EXPORT:
        stages.attempt(lambda: export(model) and None)  # an error is the stage's, too
    child = stages.Child(name, folder, limit, ("torch", model.package), folder / f"{name}.log")
    child.run(stage, step_of(stage, model, folder / f"{name}.{stage}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--models")
    parser.add_argument("--stages", default=",".join(("pt2", "onnx", *OF_PROGRAM, "pt", *OF_TRACE, *STEPS)))
    parser.add_argument("--limit", type=int, default=120, help="processor seconds of one stage")
    parser.add_argument("--again", action="store_true", help="also what has a result")
    args = parser.parse_args()
    args.folder = args.folder.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(args.folder)  # where packages write what they like (pykan: ./model)
    fake_cuda.load()  # before torch
    catalog.prepare_packages()
    import figures  # here, so that no child has to

    assert figures
    models = catalog.all_models()
    for name in args.models.split(",") if args.models else models:
        for stage in args.stages.split(","):
            if args.again or not (args.folder / f"{name}.{stage}.json").exists():
                run_one(args.folder, name, models[name], stage, args.limit)


if __name__ == "__main__":
    main()
