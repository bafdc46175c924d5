"""Builds a module of the zoo on fake tensors, or on real ones without drawing random numbers."""
import contextlib

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

FILLS = (
    "normal_", "uniform_", "trunc_normal_", "kaiming_normal_", "kaiming_uniform_",
    "xavier_normal_", "xavier_uniform_", "orthogonal_",
)


def zeros(tensor, *args, **kwargs):
    with torch.no_grad():
        return tensor.zero_()


@contextlib.contextmanager
def without_random_weights():
    """Some initializations reject samples, so they look at data; all of them take time."""
    originals = {name: getattr(torch.nn.init, name) for name in FILLS}
    for name in FILLS:
        setattr(torch.nn.init, name, zeros)
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(torch.nn.init, name, original)


def build_with_memory(architecture):
    with without_random_weights():
        return architecture.build()


def build_without_memory(architecture):
    """On fake CPU tensors, unless the constructor itself reads numbers from a tensor."""
    try:
        with without_random_weights(), FakeTensorMode():
            return architecture.build()
    except torch._subclasses.fake_tensor.DataDependentOutputException:
        return build_with_memory(architecture)
