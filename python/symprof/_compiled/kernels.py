"""Kernels that Inductor writes in Triton. Nothing is compiled: a launch is a call of the operator "triton::" and the
kernel's name, and the mark before it names its inputs and outputs."""
from typing import Any

import torch

from .. import _costs, _triton
from .._arguments import kernel_parameters
from . import marks

_FACTS = ("bytes_read", "bytes_written", "flops")


def _cost(call: _costs.Call) -> _costs.Cost | None:
    read, written, flops = (call.arguments.get(name) for name in _FACTS)
    return None if read is None else _costs.Cost(other_flops=flops or 0, bytes_read=read, bytes_written=written)


class Kernel:
    """The kernel object that the wrapper's code launches."""

    def __init__(self, name: str) -> None:
        self.name = name
        op = f"triton::{name}"
        kernel_parameters[op] = _FACTS
        _costs.compiled_kernels[op] = _cost

    def run(self, *args: Any, **kwargs: Any) -> None:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        facts = marks.taken()
        numbers = [number for place, fact in enumerate(facts or ()) for number in (place, fact)]
        _triton.operator(self.name)(tensors, [], numbers)


def triton(self: Any, kernel_name: str, source_code: str, device_str: str = "cuda") -> Kernel:
    """torch._inductor.async_compile.AsyncCompile.triton"""
    return Kernel(kernel_name)
