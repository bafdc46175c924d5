#!/usr/bin/env python3
"""Exports the models of ranks_truth.py and of parallel_truth.py, their loss inside, as .pt2 files without weights.

Usage: python export.py [NAME…]

`forward(x, target)` is what a step of those scripts computes, so that backward starts at a scalar; the model itself is
the module `model`, which is what the engines wrap."""
import importlib
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "models")]
import pt2_file  # noqa: E402


class WithLoss(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model


class TokenLoss(WithLoss):
    def forward(self, x, target):
        y = self.model(x)
        loss = F.cross_entropy(y.flatten(0, 1).float(), target.flatten())
        del y
        return loss


class ClassLoss(WithLoss):
    def forward(self, x, target):
        y = self.model(x)
        loss = F.cross_entropy(y, target)
        del y
        return loss


def of_ranks(name):
    models = importlib.import_module("ranks.models")
    m = {**models.MODELS, **models.HELD_OUT}[name]
    model = models.CLASSES[m["class"]](m)
    if m["class"] == "vit":
        size = (m["batch"], 3, m["image"], m["image"])
        return ClassLoss(model), (torch.empty(size), torch.empty(m["batch"], dtype=torch.long))
    return TokenLoss(model), tuple(torch.empty(m["batch"], m["sequence"], dtype=torch.long) for _ in range(2))


def of_parallel(changes, batch):
    parallel = importlib.import_module("parallel_truth")
    m = {**parallel.MODEL, **changes}
    return TokenLoss(parallel.Decoder(m)), tuple(torch.empty(batch, m["sequence"], dtype=torch.long) for _ in range(2))


MODELS = {
    "decoder6": lambda: of_ranks("decoder6"),
    "vit8": lambda: of_ranks("vit8"),
    "gqa6": lambda: of_ranks("gqa6"),
    "vit12": lambda: of_ranks("vit12"),
    "small": lambda: of_parallel({}, 2),
    "small_wide": lambda: of_parallel({"width": 128, "hidden": 384}, 2),
}


def main():
    for name in sys.argv[1:] or MODELS:
        with FakeTensorMode():
            module, inputs = MODELS[name]()
            program = pt2_file.export(module, inputs, "train")
        pt2_file.write(program, HERE / "models" / f"{name}.pt2", keep_weights=False)
        print(name, (HERE / "models" / f"{name}.pt2").stat().st_size)


if __name__ == "__main__":
    main()
