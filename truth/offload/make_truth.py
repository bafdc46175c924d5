#!/usr/bin/env python3
"""Writes truth.json beside it: training steps whose saved tensors wait in host memory.

Usage: python truth/offload/make_truth.py [NAME ...]   (with names it prints, and writes nothing)
Needs the packages of requirements-models.txt and a C++ compiler.
"""
import json
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent.parent / "models"))

MODELS = ("mlp", "convnet", "tied_lm", "rearranged", "vit_b_16", "gpt2")


def counting_hooks():
    """(save_on_cpu, what it has copied); tensors that lie on the host anyway are not counted."""
    import measure
    import torch

    hooks = torch.autograd.graph.save_on_cpu(pin_memory=True)
    pack, unpack = hooks.pack_hook, hooks.unpack_hook
    copied = {"packs": 0, "unpacks": 0, "offloaded_bytes": 0, "returned_bytes": 0}

    def counting_pack(tensor):
        packed = pack(tensor)
        if tensor.is_cuda:
            copied["packs"] += 1
            copied["offloaded_bytes"] += measure.size(packed[1])
        return packed

    def counting_unpack(packed):
        tensor = unpack(packed)
        if tensor.is_cuda:
            copied["unpacks"] += 1
            copied["returned_bytes"] += measure.size(tensor)
        return tensor

    hooks.pack_hook, hooks.unpack_hook = counting_pack, counting_unpack
    return hooks, copied


def record(name):
    import measure
    from torch._subclasses.fake_tensor import FakeTensorMode

    import fake_models
    import pt2_file
    import zoo

    model = zoo.MODELS[name]
    module, inputs = zoo.build_without_memory(name)
    module = fake_models.runnable(pt2_file.export(module, inputs, "train", model.dynamic))
    mover = fake_models.Mover(None)
    hooks, copied = counting_hooks()

    def step():
        with hooks:
            output = module(*inputs)
        measure.backward(output)
        del output
        module.zero_grad(set_to_none=True)

    with FakeTensorMode():
        mover.module(module)
        inputs = tuple(mover.tensor(x) for x in inputs)
        peak = measure.tracked_peak(module, inputs, step)
    return {"model": name, "mode": "train", **copied, "peak_bytes": peak["total"]}


def main():
    import fake_cuda

    force_attention = fake_cuda.load()  # before torch
    warnings.filterwarnings("ignore")
    import torch

    torch.set_num_threads(1)
    force_attention(-1)
    records = []
    for name in sys.argv[1:] or MODELS:
        records.append(record(name))
        print(records[-1], flush=True)
    truth = {"torch": torch.__version__.split("+")[0], "device": "H200", "records": records}
    if not sys.argv[1:]:
        (HERE / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()
