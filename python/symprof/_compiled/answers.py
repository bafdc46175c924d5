"""Answers to the compiler's queries about the device, Triton and its clock, by owner and name."""
import contextlib
import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import cuda_graphs, graphs, kernels, marks
from .outside import outside
from .running import compilers, original

Table = dict[tuple[Any, str], Any]


def always(value: Any) -> Any:
    return lambda *args, **kwargs: value


def answers(program: Any) -> Table:
    """torch._dynamo and torch._inductor are imported."""
    return {**_about_device(program.device()), **_about_triton(), **_about_memory(), **_about_decisions(program),
            **_about_code(), **_about_tracing(), **_about_symbols(), **_about_optimizers(), **_about_random(), **cuda_graphs.answers()}


def _about_device(device: Any) -> Table:
    from torch._dynamo import device_interface
    from torch._inductor import utils
    from torch._inductor.kernel import mm_grouped

    interface: Any = device_interface.CudaInterface
    found = torch.cuda.get_device_properties(0)
    answered = dict(current_device=0, set_device=None, device_count=1, synchronize=None, get_device_properties=found,
                    is_bf16_supported=device.compute_major >= 8, get_raw_stream=0, exchange_device=0, maybe_exchange_device=0,
                    raise_if_triton_unavailable=None, is_triton_capable=True, is_available=True,
                    get_compute_capability=10 * device.compute_major + device.compute_minor)
    fixed = {(interface, name): staticmethod(always(value)) for name, value in answered.items()}
    worker = {"get_device_properties": found, "current_device": 0, "set_device": None}
    return {
        **fixed,
        **{(interface.Worker, name): staticmethod(always(value)) for name, value in worker.items()},
        (device_interface, "get_cuda_stream"): always(0),
        (utils, "get_gpu_shared_memory"): always(device.shared_memory_bytes),
        (mm_grouped, "get_gpu_shared_memory"): always(device.shared_memory_bytes),
        (torch._C, "_ensureCUDADeviceGuardSet"): always(None),
        (torch._C, "_cuda_exchangeDevice"): always(0),
        (torch._C, "_cuda_maybeExchangeDevice"): always(0),
        (torch.cuda, "_DeviceGuard"): lambda *args: contextlib.nullcontext(),
    }


def _about_triton() -> Table:
    from torch._inductor import async_compile, codecache, scheduler
    from torch._inductor.fx_passes import pad_mm
    from torch._inductor.kernel import mm_grouped
    from torch.utils import _triton

    load: Any = original(codecache.PyCodeCache, "load_by_key_path")
    return {
        **{(module, "has_triton"): always(True) for module in (scheduler, pad_mm, mm_grouped)},
        (_triton, "triton_hash_with_backend"): always("NONE"),
        (async_compile.AsyncCompile, "triton"): kernels.triton,
        (codecache.PyCodeCache, "load_by_key_path"): classmethod(_with_triton(load.__func__)),
    }


def _with_triton(load: Callable[..., Any]) -> Callable[..., Any]:
    """The code imports Triton by name: where it is not installed an empty module stands for it meanwhile. Of a template (FlexAttention)
    the kernel's own file is loaded to be timed."""

    def load_code(cls: Any, key: str, path: str, *args: Any, **kwargs: Any) -> Any:
        if _is_template(path):
            kernel: Any = types.ModuleType(key)
            kernel.key, kernel.__file__ = key, path
            return kernel
        args = (key, path, *args)
        if importlib.util.find_spec("triton") is not None:
            return load(cls, *args, **kwargs)
        stub: Any = types.ModuleType("triton")
        stub.language = types.ModuleType("triton.language")
        sys.modules.update({"triton": stub, "triton.language": stub.language})
        try:
            return load(cls, *args, **kwargs)
        finally:
            del sys.modules["triton"], sys.modules["triton.language"]

    return load_code


def _is_template(path: str) -> bool:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return "@triton_heuristics.template(" in text and "AsyncCompile()" not in text


def _about_memory() -> Table:
    """C++ functions that query CUDA, or create a tensor past the dispatcher."""
    guards: Any = torch._C._dynamo.guards

    def empty(size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty_strided(size, stride, dtype=dtype, device="cuda")

    def view(tensor: torch.Tensor, size: Any, stride: Any, offset: int) -> torch.Tensor:
        return torch.as_strided(tensor, size, stride, tensor.storage_offset() + offset)

    return {(guards, "_empty_strided_cuda"): empty, (guards, "_reinterpret_tensor"): view,
            (guards, "copy_if_misaligned"): lambda tensor: tensor}


def _about_decisions(program: Any) -> Table:
    from torch._inductor import scheduler, utils
    from torch._inductor.fx_passes import pad_mm

    def should_pad(match: Any, mat1: Any, mat2: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
        """A benchmark decides; here there is no clock. force_shape_pad pads whatever a benchmark would say."""
        from torch._inductor import config

        sizes = int(mat1.shape[-2]), int(mat1.shape[-1]), int(mat2.shape[-1])
        if config.force_shape_pad:
            return bool(asked(match, mat1, mat2, op, *args, **kwargs))
        if pad_mm.is_mm_compute_bound(*sizes, mat1.dtype):
            compilers[-1].unwritten.append("×".join(map(str, sizes)))
        return False

    asked = original(pad_mm, "_should_pad")
    bandwidth = always((program.device().memory_bytes_per_second or 0.0) / 1e9)
    return {(pad_mm, "_should_pad"): should_pad, (utils, "get_gpu_dram_gbps"): bandwidth, (scheduler, "get_gpu_dram_gbps"): bandwidth}


def _about_code() -> Table:
    from torch._inductor import compile_fx, scheduler
    from torch._inductor.codegen.triton import TritonScheduling
    from torch._inductor.graph import GraphLowering

    scheduling: Any = TritonScheduling
    comment, extern = original(scheduling, "codegen_comment"), original(scheduler.Scheduler, "codegen_extern_call")

    def codegen_comment(self: Any, node_schedule: Any, *args: Any, **kwargs: Any) -> Any:
        marks.write(node_schedule)
        return comment(self, node_schedule, *args, **kwargs)

    def codegen_extern_call(self: Any, scheduler_node: Any, *args: Any, **kwargs: Any) -> Any:
        marks.write([scheduler_node])
        return extern(self, scheduler_node, *args, **kwargs)

    return {
        (scheduling, "codegen_comment"): codegen_comment,
        (scheduler.Scheduler, "codegen_extern_call"): codegen_extern_call,
        (GraphLowering, "compile_to_module"): graphs.running_code(original(GraphLowering, "compile_to_module")),
        (compile_fx, "compile_fx"): graphs.compiling(original(compile_fx, "compile_fx")),
    }


_dispatch_mode: Any = TorchDispatchMode


class _OnHost(_dispatch_mode):  # type: ignore[misc]
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if kwargs.get("device") is not None and torch.device(kwargs["device"]).type == "cuda":
            kwargs["device"] = torch.device("cpu")
        # prims.device_put of a number: PyTorch 2.14 makes a tensor of the weight of a _foreach_lerp (torch/_inductor/decomposition.py).
        args = tuple(torch.device("cpu") if isinstance(arg, torch.device) else arg for arg in args)
        return func(*args, **kwargs)


def _about_tracing() -> Table:
    from torch._dynamo import guards
    from torch._dynamo.variables import nn_module
    from torch._inductor import constant_folding
    from torch._inductor.fx_passes import joint_graph
    from torch._subclasses.fake_tensor import FakeTensorMode

    def on_host(owner: Any, name: str) -> dict[tuple[Any, str], Any]:
        """Constants that the compiler computes itself."""
        compute = original(owner, name)

        def compute_on_host(self: Any, *args: Any, **kwargs: Any) -> Any:
            with _OnHost():
                return compute(self, *args, **kwargs)

        return {(owner, name): compute_on_host}

    record = original(nn_module, "record_nn_module_stack")

    def record_and_note(module_key: Any, source: Any, tx: Any, mod: Any) -> Any:
        compilers[-1].note_module(mod)
        return record(module_key, source, tx, mod)

    return {
        (nn_module, "record_nn_module_stack"): record_and_note,
        (FakeTensorMode, "avoid_device_init"): property(always(True)),
        **on_host(constant_folding.ConstantFolder, "run"),
        **on_host(joint_graph.UniformValueConstantFolder, "_add_peephole_patterns"),
        (guards.CheckFunctionManager, "__init__"): outside.inside(original(guards.CheckFunctionManager, "__init__")),
    }


def _about_symbols() -> Table:
    """The choice of attention's kernel reads sizes: of symbols their hints. It is no reason to compile once more."""
    from torch._dynamo import utils
    from torch.fx.interpreter import Interpreter

    attention: Any = torch._C._nn.scaled_dot_product_attention
    run, interpret = original(utils, "run_node"), original(Interpreter, "call_function")

    def run_node(tracer: Any, node: Any, args: Any, *more: Any) -> Any:
        with _without_guards(args) if node.target is attention else contextlib.nullcontext():
            return run(tracer, node, args, *more)

    def call_function(self: Any, target: Any, args: Any, kwargs: Any) -> Any:
        with _without_guards(args) if target is attention else contextlib.nullcontext():
            return interpret(self, target, args, kwargs)

    return {(utils, "run_node"): run_node, (Interpreter, "call_function"): call_function}


def _without_guards(tensors: Any) -> Any:
    symbols = (size for tensor in tensors if isinstance(tensor, torch.Tensor) for size in tensor.shape if isinstance(size, torch.SymInt))
    found: Any = next(symbols, None)
    return contextlib.nullcontext() if found is None else found.node.shape_env.suppress_guards()


def _about_optimizers() -> Table:
    """No hook runs for an optimizer whose step is compiled; its states are created during tracing, by the program's code."""
    from torch._dynamo.variables.optimizer import OptimizerVariable

    call = original(OptimizerVariable, "call_method")

    def call_method(self: Any, tx: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        if name != "_init_group" or not hasattr(self.value, name):
            return call(self, tx, name, *args, **kwargs)
        compilers[-1].note_optimizer(self.value)
        self.value.__dict__[name] = outside.inside(self.value._init_group)
        try:
            return call(self, tx, name, *args, **kwargs)
        finally:
            del self.value.__dict__[name]

    return {(OptimizerVariable, "call_method"): call_method}


def _about_random() -> Table:
    """Operators that replay the random numbers of a checkpointed region: the simulation has no random numbers, and their
    states have no device."""
    from torch._prims import rng_prims

    operators: Any = rng_prims
    again, first, safe = (type(getattr(operators, name)) for name in ("run_with_rng_state", "run_and_save_rng_state",
                                                                       "graphsafe_run_with_rng_state"))

    def unless_traced(owner: Any, run: Callable[..., Any]) -> Any:
        trace = original(owner, "__call__")
        return lambda self, *args, **kwargs: (trace(self, *args, **kwargs) if outside.depth else run(*args, **kwargs))

    def run_and_save(op: Any, *args: Any, **kwargs: Any) -> Any:
        return torch.empty(16, dtype=torch.uint8), op(*args, **kwargs)

    return {
        (again, "__call__"): unless_traced(again, lambda state, op, *args, **kwargs: op(*args, **kwargs)),
        (first, "__call__"): unless_traced(first, run_and_save),
        (safe, "__call__"): unless_traced(safe, lambda op, *args, rng_state=None, **kwargs: op(*args, **kwargs)),
    }
