"""Kernels that Inductor writes in Triton. Nothing is compiled: a launch is a call of the operator "triton::" and the
kernel's name, and the mark before it names its inputs and outputs. The program's own kernels in compiled code are recorded as
those that it launches itself."""
import ast
from typing import Any

import torch

from .. import _costs, _triton
from .._arguments import kernel_parameters
from . import marks, running

_FACTS = ("bytes_read", "bytes_written", "flops")
_OF_PROGRAM = "user_autotune"  # Inductor's decorator of them (torch/_inductor/runtime/triton_heuristics.py).


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


class ProgramKernel:
    """Of its parameters the code passes those that are no constants."""

    def __init__(self, name: str, parameters: tuple[str, ...], passed: tuple[str, ...], constants: dict[str, Any]) -> None:
        self.name, self.parameters, self.passed, self.constants = name, parameters, passed, constants

    def run(self, *args: Any, **kwargs: Any) -> None:
        marks.taken()
        _triton.launch(running.program(), self.name, self.parameters, {**self.constants, **dict(zip(self.passed, args, strict=False))})


def triton(self: Any, kernel_name: str, source_code: str, device_str: str = "cuda") -> Any:
    """torch._inductor.async_compile.AsyncCompile.triton"""
    if f".{_OF_PROGRAM}(" in source_code:
        for node in ast.parse(source_code).body:
            if isinstance(node, ast.FunctionDef) and (options := _options(node)):
                return _of_program(kernel_name, node, options)
    file = running.compilers[-1].code_file if running.compilers else None
    return Kernel(kernel_name) if file is None else file.kernel(kernel_name, source_code)


def _options(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Arguments of Inductor's decorator."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute) and decorator.func.attr == _OF_PROGRAM:
            return {keyword.arg: keyword.value for keyword in decorator.keywords if keyword.arg}
    return {}


def _of_program(name: str, function: ast.FunctionDef, options: dict[str, ast.expr]) -> ProgramKernel:
    """Nothing can be timed: the first configuration is used."""
    found = {key.value: value for meta in (options.get("triton_meta"),) if isinstance(meta, ast.Dict)
             for key, value in zip(meta.keys, meta.values, strict=True) if isinstance(key, ast.Constant)}
    signature, constants = (ast.literal_eval(found[key]) if key in found else {} for key in ("signature", "constants"))
    configurations = ast.literal_eval(options["configs"]) if "configs" in options else []
    parameters = tuple(argument.arg for argument in function.args.args)
    known = {**constants, **(configurations[0] if configurations else {})}
    return ProgramKernel(name, parameters, tuple(key for key, kind in signature.items() if kind != "constexpr"),
                         {key: value for key, value in known.items() if key in parameters})
