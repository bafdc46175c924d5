"""Compiled functions, and the code that Inductor wrote for them: where the program calls them, and where they run."""
import copy
from collections.abc import Callable
from typing import Any

import torch

from . import running

# Decided by a clock: the default mode stands for them.
_NOT_SIMULATED = {"max_autotune": "max-autotune", "max_autotune_gemm": "max-autotune",
                  "max_autotune_pointwise": "max-autotune", "coordinate_descent_tuning": "coordinate descent tuning",
                  "benchmark_fusion": "benchmarks of fusions", "benchmark_combo_kernel": "benchmarks of fusions"}
_ALWAYS = {"compile_threads": 1, "cpp_wrapper": False}
_CACHED = {"fx_graph_cache": True, "fx_graph_remote_cache": False}


def _is_on_device(graph: torch.fx.GraphModule, inputs: Any) -> bool:
    tensors = [value for value in (*inputs, *graph.parameters(), *graph.buffers()) if isinstance(value, torch.Tensor)]
    values = (node.meta.get("example_value") for node in graph.graph.nodes)
    return any(value.device.type == "cuda" for value in (*tensors, *values) if isinstance(value, torch.Tensor))


def _patches(given: Any, program: Any, is_cached: bool) -> dict[str, Any]:
    """The compiler's settings of this graph."""
    from torch._inductor import config

    asked = {**config.get_config_copy(), **(given or {})}
    for name, what in _NOT_SIMULATED.items():
        if asked.get(name):
            program.warn(f"torch.compile: {what}: not simulated; the default mode stands for it.")
    return {**(given or {}), **dict.fromkeys(_NOT_SIMULATED, False), **_ALWAYS, **(_CACHED if is_cached else {"force_disable_caches": True})}


def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    """Autograd's node of the whole function is made while it is called."""

    def call(*args: Any) -> Any:
        program = running.program()
        program.enter_graph()
        try:
            return function(*args)
        finally:
            program.leave_graph()

    call.__dict__.update(getattr(function, "__dict__", {}))
    return call


def _updates(function: Callable[..., Any], optimizers: list[torch.optim.Optimizer]) -> Callable[..., Any]:
    """A graph that has steps of optimizers is the update."""

    def call(*args: Any) -> Any:
        with running.compilers[-1].updating(optimizers):
            return function(*args)

    return call


def _passes_on(error: Exception) -> bool:
    """Exceptions that torch._dynamo uses as signals."""
    from torch._dynamo import exc

    names = ("RestartAnalysis", "SkipFrame", "TensorifyScalarRestartAnalysis", "SpeculationRestartAnalysis")
    return isinstance(error, tuple(getattr(exc, name) for name in names if hasattr(exc, name)))


def compiling(compile_fx: Callable[..., Any]) -> Callable[..., Any]:
    """torch._inductor.compile_fx.compile_fx, which calls itself. A graph on which it fails runs eagerly."""
    depth = 0

    def compile_or_run(model_: Any, example_inputs_: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        if depth or not isinstance(model_, torch.fx.GraphModule):
            return compile_fx(model_, example_inputs_, *args, **kwargs)
        if not _is_on_device(model_, example_inputs_):
            return model_
        compiler = running.compilers[-1]
        optimizers = compiler.taken_optimizers()
        kwargs["config_patches"] = _patches(kwargs.get("config_patches"), compiler.program, compiler.cache is not None)
        as_it_was = torch.fx.GraphModule(model_, copy.copy(model_.graph))
        depth += 1
        try:
            compiler.note_place()
            made = compile_fx(model_, example_inputs_, *args, **kwargs)
            return _updates(made, optimizers) if optimizers else _called(made)
        except Exception as error:
            if _passes_on(error):
                raise
            compiler.program.warn(f"torch.compile: a graph ran eagerly, as Inductor failed on it: {_reason(error)}")
            return _updates(as_it_was, optimizers) if optimizers else as_it_was
        finally:
            depth -= 1

    return compile_or_run


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


def running_code(compile_to_module: Callable[..., Any]) -> Callable[..., Any]:
    """torch._inductor.graph.GraphLowering.compile_to_module"""

    def compile_and_wrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        module = compile_to_module(self, *args, **kwargs)
        if "cuda" in self.device_types:
            module.call = _run_code(module.call)
        return module

    return compile_and_wrap


def running_loaded_code(after_deserialization: Callable[..., Any]) -> Callable[..., Any]:
    """torch._inductor.output_code.CompiledFxGraph.after_deserialization, of code that is loaded from the cache."""

    def load_and_wrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        path = after_deserialization(self, *args, **kwargs)
        if "cuda" in self.device_types:
            self.current_callable = _run_code(self.current_callable)
        return path

    return load_and_wrap


def _run_code(code: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(args: Any) -> Any:
        program = running.program()
        program.enter_code()
        try:
            return code(args)
        finally:
            program.leave_code()

    return call
