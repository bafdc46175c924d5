#!/usr/bin/env python3
"""Writes truth/<model>.json: what PyTorch says about the models, on fake CUDA tensors.

Usage: python truth/make_truth.py [NAME ...]   (README.md beside it has the fields)
Needs the packages of requirements-models.txt and a C++ compiler.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "models"))

MATH, AS_ON_DEVICE = 0, -1


def variants(model):
    """(kind, mode, dtype, attention) of every record of a model."""
    for mode in model.modes:
        for dtype in model.dtypes:
            yield "exported", mode, dtype, "automatic"
            yield "module", mode, dtype, "automatic"
        yield "exported", mode, model.dtypes[0], "math"


def record(name, kind, mode, dtype, attention):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    import fake_models
    import measure
    import pt2_file
    import zoo

    model = zoo.MODELS[name]
    module, inputs = zoo.build_without_memory(name)
    module.train(mode == "train")
    cast = torch.bfloat16 if dtype == "bf16" and dtype != model.dtypes[0] else None
    if kind == "exported":
        if cast:  # The code of the model decides which of its casts follow.
            fake_models.cast_in_place(module, cast)
            inputs = tuple(x.to(cast) if x.is_floating_point() else x for x in inputs)
        module = fake_models.runnable(pt2_file.export(module, inputs, mode, model.dynamic))
    mover = fake_models.Mover(cast)
    with FakeTensorMode():
        mover.module(module)
        inputs = tuple(mover.tensor(x) for x in inputs)
        with_optimizers = mode == "train" and attention != "math"
        return measure.measure(module, inputs, with_optimizers)


def has_attention(records):
    return any("_scaled_dot_product" in op for r in records for op in r["fwd_calls_by_op"])


def measure_all(name):
    import fake_cuda

    force_attention = fake_cuda.load()  # before torch
    warnings.filterwarnings("ignore")
    import torch

    import zoo

    torch.set_num_threads(2)
    records = []
    for variant in variants(zoo.MODELS[name]):
        if variant[-1] == "math" and not has_attention(records):
            continue
        start = time.time()
        force_attention(MATH if variant[-1] == "math" else AS_ON_DEVICE)
        found = record(name, *variant)
        records.append({**dict(zip(("kind", "mode", "dtype", "attention"), variant)), **found})
        print(name, *variant, found["fwd_flops"], found["bwd_flops"], found["saved_bytes"],
              found["peak_bytes"], f"{time.time() - start:.1f} s", flush=True)
    return {"model": name, "torch": torch.__version__.split("+")[0], "device": "H200",
            "records": records}


def to_text(truth):
    """JSON with one field per line, so that a change is a small diff."""
    head = [f' "{key}": {json.dumps(truth[key])},' for key in ("model", "torch", "device")]
    records = []
    for fields in truth["records"]:
        lines = [f'   "{key}": {json.dumps(value)}' for key, value in fields.items()]
        records.append("  {\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + "\n".join(head) + '\n "records": [\n' + ",\n".join(records) + "\n ]\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        (name,) = args.names
        (HERE / f"{name}.json").write_text(to_text(measure_all(name)))
        return
    names = args.names
    if not names:
        import zoo

        names = [name for name, model in zoo.MODELS.items() if not model.script_only]
    failed = 0
    for name in names:  # a process each: the shim has to be loaded before torch
        failed |= subprocess.run([sys.executable, __file__, "--one", name]).returncode
    sys.exit(failed)


if __name__ == "__main__":
    main()
