#!/usr/bin/env python3
"""Makes the example models: models/<name>.pt2, .pt and .onnx without weights, models/tiny/ with
them (but .pt).

Usage: python models/make.py [--formats pt2,onnx,torchscript,pt] [NAME ...]
Needs the packages of requirements-models.txt. Every model is exported in train mode, so that its
dropout and batch-norm calls say train=True; a profile in eval mode turns them off.
"""
import argparse
import pathlib
import subprocess
import sys
import warnings

import torch

import onnx_file
import pt2_file
import pt_file
import zoo

HERE = pathlib.Path(__file__).resolve().parent


def target(name, suffix):
    folder = HERE / "tiny" if zoo.MODELS[name].tiny else HERE
    folder.mkdir(exist_ok=True)
    return folder / (name + suffix)


def make_pt2(name):
    model = zoo.MODELS[name]
    build = zoo.build_small if model.tiny else zoo.build_without_memory
    module, inputs = build(name)
    program = pt2_file.export(module, inputs, model.modes[0], model.dynamic)
    path = target(name, ".pt2")
    pt2_file.write(program, path, keep_weights=model.tiny)
    return path


def make_onnx(name):
    model = zoo.MODELS[name]
    module, inputs = zoo.build_without_memory(name)
    program = pt2_file.export(module, inputs, model.modes[0], model.dynamic)
    path = target(name, ".onnx")
    exported = onnx_file.by_dynamo(program, model.onnx_opset, model.onnx_optimization)
    onnx_file.write(exported, path, model.dynamic)
    return path


def make_torchscript(name):
    module, inputs = zoo.build_with_weights(name)
    path = target(name, "_torchscript.onnx")
    onnx_file.write(onnx_file.by_torchscript(module, inputs, "train"), path)
    return path


def make_pt(name):
    model = zoo.MODELS[name]
    module, inputs = zoo.build_with_weights(name)
    made = {"traced": lambda: pt_file.trace(module, inputs, "train"),
            "scripted": lambda: pt_file.script(module, "train")}
    path = target(name, ".pt")
    pt_file.write(made[model.torchscript_file](), path)
    return path


MAKERS = {"pt2": make_pt2, "onnx": make_onnx, "torchscript": make_torchscript, "pt": make_pt}


def make(name, file_format):
    warnings.filterwarnings("ignore")
    torch.set_num_threads(2)
    path = MAKERS[file_format](name)
    size = path.stat().st_size
    print(f"{path.relative_to(HERE)}: {size} bytes", flush=True)
    if size >= pt2_file.SIZE_LIMIT:
        sys.exit(f"{path}: {size} bytes, must stay below {pt2_file.SIZE_LIMIT}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--formats", default=",".join(MAKERS))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return make(args.names[0], args.formats)
    failed = 0
    for name in args.names or zoo.MODELS:
        for file_format in args.formats.split(","):
            model = zoo.MODELS[name]
            if file_format == "torchscript" and not model.torchscript:
                continue
            if file_format == "pt" and not model.torchscript_file:
                continue
            if file_format in ("pt2", "onnx") and model.script_only:
                continue
            # A process each: exporters leave patches and memory behind.
            command = [sys.executable, __file__, "--one", "--formats", file_format, name]
            failed |= subprocess.run(command).returncode
    sys.exit(failed)


if __name__ == "__main__":
    main()
