"""Triton kernels in a simulation: a launch is a call of the operator "triton::" and the kernel's name, on the tensors that it
is given. No rule says what it costs, unless the program has one (cost_rule)."""
import functools
import importlib.util
from typing import Any

import torch

from ._costs import has_rule


@functools.cache
def _library() -> Any:
    library: Any = torch.library.Library
    return library("triton", "FRAGMENT")


@functools.cache
def _operator(kernel: str) -> Any:
    """It makes no tensor: a kernel writes into those that it is given."""
    _library().define(f"{kernel}(Tensor[] tensors) -> ()")
    _library().impl(kernel, lambda tensors: None, "Meta")
    return getattr(torch.ops.triton, kernel).default


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By class and name; none where Triton is not installed."""
    if importlib.util.find_spec("triton") is None:
        return {}
    runtime: Any = importlib.import_module("triton.runtime")
    autotuner, jit = runtime.autotuner, runtime.jit

    launch = jit.JITFunction.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        if not any(map(program.has_no_values, tensors)):
            return launch(self, *args, **kwargs)
        kernel = self.fn.__name__
        if not has_rule(f"triton::{kernel}"):
            program.warn(f"triton::{kernel}: no rule says what this kernel costs; symprof.cost_rule takes one.")
        return _operator(kernel)(tensors)

    def run_one_configuration(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Nothing can be timed: the first configuration stands for all."""
        return self.fn.run(*args, **kwargs, **self.configs[0].all_kwargs())

    return {(jit.JITFunction, "run"): run, (autotuner.Autotuner, "run"): run_one_configuration}
