#!/usr/bin/env python3
"""Writes inlined_function.pt2, a torch.autograd.Function whose forward pass changes tensors in place, and
inlined_function_plain.pt2, one whose forward pass does not.

PyTorch trains the modules: the functions have a backward pass of their own. torch.export writes the forward pass out in
place of the function. Autograd refuses the backward pass of the first, and makes one of the second that saves more.
"""
import pathlib
import sys

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "models"))


class RunningSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, decay):
        sums = torch.exp(x)
        scaled = sums * decay
        sums.add_(scaled)
        ctx.save_for_backward(x, decay)
        return sums

    @staticmethod
    def backward(ctx, gradient):
        x, decay = ctx.saved_tensors
        return gradient * torch.exp(x) * (1 + decay), (gradient * torch.exp(x)).sum(0)


class PlainSum(RunningSum):
    @staticmethod
    def forward(ctx, x, decay):
        sums = torch.exp(x)
        ctx.save_for_backward(x, decay)
        return sums + sums * decay


class Model(nn.Module):
    function = RunningSum

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 4)
        self.decay = nn.Parameter(torch.full((16,), 0.5))

    def forward(self, x):
        x = self.first(x)
        x = self.function.apply(x, self.decay)
        return self.last(x)


class PlainModel(Model):
    function = PlainSum

    def forward(self, x):
        return super().forward(x)


if __name__ == "__main__":
    import pt2_file

    inputs = (torch.zeros(2, 8),)
    for model, name in ((Model(), "inlined_function"), (PlainModel(), "inlined_function_plain")):
        model(*inputs).sum().backward()  # PyTorch trains it.
        pt2_file.write(pt2_file.export(model, inputs, "train"), HERE / f"{name}.pt2", False)
