"""Triton kernels in a simulation: a launch is a call of the operator "triton::" and the kernel's name, with its tensors as
arguments. Its cost is from a rule (cost_rule), or the table of known kernels; other kernels' costs are unknown."""
import functools
import importlib
import importlib.util
import types
from collections.abc import Mapping
from typing import Any

import torch

from . import _device_properties
from ._arguments import KERNEL_SCHEMA, kernel_parameters
from ._costs import has_rule


@functools.cache
def _library() -> Any:
    library: Any = torch.library.Library
    return library("triton", "FRAGMENT")


@functools.cache
def operator(kernel: str) -> Any:
    """It creates no tensor: a kernel writes into its arguments."""
    _library().define(f"{kernel}{KERNEL_SCHEMA}")
    _library().impl(kernel, lambda tensors, places, numbers: None, "Meta")
    return getattr(torch.ops.triton, kernel).default


def _tensor_of(value: Any) -> torch.Tensor | None:
    """Of a tensor, or of a descriptor of one (triton.tools.tensor_descriptor)."""
    if isinstance(value, torch.Tensor):
        return value
    base = getattr(value, "base", None) if type(value).__name__ == "TensorDescriptor" else None
    return base if isinstance(base, torch.Tensor) else None


def _launch(kernel: str, parameters: tuple[str, ...], given: Mapping[str, Any]) -> None:
    """A call of its operator. Parameters are known by their places, which a recording keeps."""
    op = f"triton::{kernel}"
    kernel_parameters[op] = parameters if kernel_parameters.get(op, parameters) == parameters else ()  # One name, two kernels.
    found = [(place, given.get(name)) for place, name in enumerate(parameters)]
    tensors = [(place, tensor) for place, value in found if (tensor := _tensor_of(value)) is not None]
    numbers = [number for place, value in found if isinstance(value, int) for number in (place, int(value))]
    operator(kernel)([tensor for _, tensor in tensors], [place for place, _ in tensors], numbers)


def launch(program: Any, kernel: str, parameters: tuple[str, ...], given: Mapping[str, Any]) -> None:
    """A launch of the program's kernel."""
    if not has_rule(f"triton::{kernel}"):
        program.warn(f"triton::{kernel}: no rule says what this kernel costs; symprof.cost_rule takes one.")
    _launch(kernel, parameters, given)


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By class and name; none where Triton is not installed."""
    if importlib.util.find_spec("triton") is None:
        return {}
    runtime: Any = importlib.import_module("triton.runtime")
    autotuner, jit = runtime.autotuner, runtime.jit
    run_on_device = jit.JITFunction.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        parameters = tuple(self.arg_names)
        given = {**dict(zip(parameters, args, strict=False)), **kwargs}
        if not any(tensor is not None and program.has_no_values(tensor) for tensor in map(_tensor_of, given.values())):
            return run_on_device(self, *args, **kwargs)
        launch(program, self.fn.__name__, parameters, given)

    def run_one_configuration(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Nothing can be timed: the first configuration is used for all."""
        configuration = self.configs[0]
        given = {**dict(zip(self.arg_names, args, strict=False)), **kwargs, **configuration.all_kwargs()}
        if configuration.pre_hook is not None:
            configuration.pre_hook(given)
        return self.fn.run(*args, **{**kwargs, **configuration.all_kwargs()})

    return {(jit.JITFunction, "run"): run, (autotuner.Autotuner, "run"): run_one_configuration, **_driver(program, runtime)}


def _benchmark(function: Any, *args: Any, quantiles: Any = None, **kwargs: Any) -> Any:
    """triton.testing.do_bench: once is enough, and nothing takes time."""
    function()
    return 1.0 if quantiles is None else [1.0] * len(quantiles)


def _driver(program: Any, runtime: Any) -> dict[tuple[Any, str], Any]:
    """Libraries' queries to Triton about the device (triton/backends/nvidia/driver.py)."""
    device = program.device()
    compiler: Any = importlib.import_module("triton.backends.compiler")
    found = _device_properties.of(device)
    properties = {"max_shared_mem": device.shared_memory_bytes, "multiprocessor_count": found.multi_processor_count,
                  "warpSize": found.warp_size, "max_num_regs": found.regs_per_multiprocessor, "sm_clock_rate": 0, "mem_clock_rate": 0, "mem_bus_width": 0}
    driver = types.SimpleNamespace(
        utils=types.SimpleNamespace(get_device_properties=lambda index: properties),
        is_active=lambda: True,
        get_current_device=lambda: 0,
        set_current_device=lambda index: None,
        get_current_stream=lambda index: torch.cuda.current_stream().stream_id,
        get_current_target=lambda: compiler.GPUTarget("cuda", 10 * device.compute_major + device.compute_minor, 32),
        get_active_torch_device=lambda: torch.device("cuda", 0),
        get_device_interface=lambda: torch.cuda,
        get_benchmarker=lambda: _benchmark,
    )
    has_own = "active" in vars(runtime.driver)  # Before Triton 3.3; later they are properties of its class.
    owner = runtime.driver if has_own else type(runtime.driver)
    asked: dict[tuple[Any, str], Any] = {(owner, "active"): driver, (owner, "default"): driver}
    if importlib.util.find_spec("triton.testing") is not None:
        asked[importlib.import_module("triton.testing"), "do_bench"] = _benchmark
    return asked
