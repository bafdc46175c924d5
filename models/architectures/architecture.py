"""What the files of this folder describe: a model by configuration, with random or no weights."""
import dataclasses
from typing import Callable

import torch


@dataclasses.dataclass(frozen=True)
class Architecture:
    """One model of the zoo; `build` returns (module, positional tensors), one tensor comes out."""

    family: str  # "convolutional", "MoE", …: a word for the table
    source: str  # the package's name of the module or configuration
    build: Callable[[], tuple[torch.nn.Module, tuple[torch.Tensor, ...]]]


def tokens(batch, length):
    return torch.zeros(batch, length, dtype=torch.int64)


def images(batch, size, channels=3):
    return torch.zeros(batch, channels, size, size)


class OneOutput(torch.nn.Module):
    """A module under its own name, with `pick` to make one tensor of what it returns."""

    def __init__(self, model, pick):
        super().__init__()
        self.model = model
        self.pick = pick

    def forward(self, *inputs):
        return self.pick(self.model(*inputs))


class NamedInputs(torch.nn.Module):
    """The same for a module that wants its inputs by keyword, with constants besides."""

    def __init__(self, model, names, pick, **constants):
        super().__init__()
        self.model = model
        self.names = names
        self.pick = pick
        self.constants = constants

    def forward(self, *inputs):
        return self.pick(self.model(**dict(zip(self.names, inputs)), **self.constants))


def flat(tensors):
    """Maps of several sizes as one tensor, so that all of them have a gradient."""
    return torch.cat([tensor.flatten(1) for tensor in tensors], 1)
