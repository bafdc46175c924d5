"""A program's CUDA queries in Python, answered as by the simulated device. The answers are in tables by owner and name;
`replaced` puts them into torch and removes them again. If PyTorch's own Python calls its C++ (`torch._C._cuda_…`), that
function is replaced, and PyTorch's Python is unchanged.
"""
import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch

from . import _device_properties
from ._error import Error
from ._streams import Event, Stream, stream_ids


def _always(value: Any) -> Any:
    """A new function each time: torch._dynamo distinguishes functions by their identity."""
    return lambda *args, **kwargs: value


def flatten_parameters(self: torch.nn.RNNBase) -> None:
    """One buffer for a layer's weights, as in cuDNN; PyTorch's own function compares addresses, which no tensor has here. If
    cuDNN is switched off, there is none (torch/nn/modules/rnn.py)."""
    weights: list[Any] = self._flat_weights
    if not torch.backends.cudnn.enabled or not all(
            isinstance(weight, torch.Tensor) and weight.is_cuda and weight.dtype == weights[0].dtype for weight in weights):
        return
    with torch.no_grad():
        buffer: Any = torch.empty(sum(weight.numel() for weight in weights), dtype=weights[0].dtype, device="cuda")
        for weight, part in zip(weights, buffer.split([weight.numel() for weight in weights]), strict=True):
            weight.data = part.view(weight.shape)


def refused(what: str, instead: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Error(f"{what}: is not simulated.\n  {instead}")

    return refuse


def _scatter(tensor: torch.Tensor, devices: Any, chunk_sizes: Any, dim: int, streams: Any) -> list[torch.Tensor]:
    """As torch/csrc/cuda/comm.cpp copies for one device: on the stream that it is given."""
    if len(devices) > 1:
        raise Error("DataParallel: found several devices; one is simulated.\n  Use DistributedDataParallel, with `--ranks`.")
    with torch.cuda.stream(streams[0] if streams else None):
        return [tensor.to(torch.device("cuda", devices[0]), non_blocking=True)]


def _memory_statistics(program: Any) -> dict[str, Any]:
    """The result of torch._C._cuda_memoryStats, without counters that the simulated allocator lacks."""
    memory = program.memory()
    gauges = {
        "allocated_bytes": (memory.allocated_bytes, memory.peak_allocated_bytes),
        "active_bytes": (memory.allocated_bytes, memory.peak_allocated_bytes),
        "reserved_bytes": (memory.reserved_bytes, memory.peak_reserved_bytes),
        "requested_bytes": (memory.requested_bytes, memory.peak_requested_bytes),
    }
    found: dict[str, Any] = {name: {"all": {"current": now, "peak": peak}} for name, (now, peak) in gauges.items()}
    return {**found, "num_alloc_retries": memory.alloc_retries, "num_ooms": 0}


def answers(program: Any, devices: int = 1) -> dict[tuple[Any, str], Any]:
    """Replacements by module and name. `program` (symprof._native.Program) has the device and the simulated allocator's
    memory."""
    device = program.device()
    return {
        **_about_device(device, devices),
        **_about_memory(program, device),
        **_about_execution(),
        **_about_libraries(device),
        (torch.nn.RNNBase, "flatten_parameters"): flatten_parameters,
    }


def _everywhere(name: str, answer: Any) -> dict[tuple[Any, str], Any]:
    """For a function of torch.cuda that its submodules have under the same name."""
    function = getattr(torch.cuda, name)
    modules = [module for path, module in sys.modules.items() if path == "torch.cuda" or path.startswith("torch.cuda.")]
    return {(module, name): answer for module in modules if getattr(module, name, None) is function}


def _about_device(device: Any, devices: int) -> dict[tuple[Any, str], Any]:
    cuda, accelerator, native = torch.cuda, torch.accelerator, torch._C
    properties = _device_properties.of(device)
    capability = (device.compute_major, device.compute_minor)
    return {
        (cuda, "init"): _always(None),
        **_everywhere("_lazy_init", _always(None)),
        **_everywhere("is_initialized", _always(True)),
        (cuda, "is_available"): _always(True),
        (cuda, "device_count"): _always(devices),
        (cuda, "_device_count_nvml"): _always(devices),
        (native, "_cuda_getDeviceCount"): _always(devices),
        (native, "_cuda_init"): _always(None),
        (cuda, "current_device"): _always(0),
        (native, "_cuda_getDevice"): _always(0),
        (cuda, "_exchange_device"): _always(0),
        (cuda, "_maybe_exchange_device"): _always(0),
        (cuda, "is_bf16_supported"): _always(device.compute_major >= 8),
        (cuda, "is_tf32_supported"): _always(device.compute_major >= 8),
        (cuda, "get_device_capability"): _always(capability),
        (cuda, "get_device_name"): _always(properties.name),
        (cuda, "get_device_properties"): _always(properties),
        (cuda, "get_arch_list"): _always([f"sm_{capability[0]}{capability[1]}"]),
        (cuda, "can_device_access_peer"): _always(True),
        # NVML: a device that computes nothing.
        (cuda, "utilization"): _always(0),
        (cuda, "memory_usage"): _always(0),
        (cuda, "temperature"): _always(0),
        (cuda, "power_draw"): _always(0),
        (cuda, "clock_rate"): _always(0),
        (accelerator, "is_available"): _always(True),
        (accelerator, "current_accelerator"): _always(torch.device("cuda")),
        (accelerator, "device_count"): _always(devices),
        (accelerator, "current_device_index"): _always(0),
        (accelerator, "current_device_idx"): _always(0),
        (native, "_accelerator_getDeviceCapability"): _always({}),
    }


def _about_memory(program: Any, device: Any) -> dict[tuple[Any, str], Any]:
    cuda, native = torch.cuda, torch._C

    def free_and_total(*args: Any) -> tuple[int, int]:
        return device.memory_bytes - program.memory().reserved_bytes, device.memory_bytes

    def statistics(*args: Any) -> dict[str, Any]:
        return _memory_statistics(program)

    def empty_cache(*args: Any) -> None:
        program.empty_cache()

    def reset_peaks(*args: Any) -> None:
        program.reset_peaks()

    def summary(*args: Any, **kwargs: Any) -> str:
        now = program.memory()
        return (f"allocated {now.allocated_bytes} bytes, at most {now.peak_allocated_bytes}; reserved {now.reserved_bytes} bytes, "
                f"at most {now.peak_reserved_bytes}")

    snapshot = refused("memory_snapshot", "symprof writes one of the step that it reports.")
    return {
        (cuda, "mem_get_info"): free_and_total,
        (cuda.memory, "mem_get_info"): free_and_total,
        (cuda, "memory_summary"): summary,
        (cuda.memory, "memory_summary"): summary,
        (cuda, "device_memory_used"): lambda *args: program.memory().reserved_bytes,
        (native, "_cuda_memoryStats"): statistics,
        (native, "_cuda_resetPeakMemoryStats"): reset_peaks,
        (native, "_cuda_resetAccumulatedMemoryStats"): _always(None),
        (native, "_cuda_emptyCache"): empty_cache,
        (native, "_cuda_hostMemoryStats"): _always({}),
        (native, "_cuda_resetPeakHostMemoryStats"): _always(None),
        (native, "_cuda_resetAccumulatedHostMemoryStats"): _always(None),
        (native, "_cuda_getAllocatorBackend"): _always("native"),
        (native, "_cuda_memorySnapshot"): snapshot,
        (native, "_cuda_record_memory_history"): _always(None),
        (native, "_cuda_record_memory_history_legacy"): _always(None),
        (native, "_cuda_cudaHostAllocator"): _always(None),
        (native, "_accelerator_isAllocatorInitialized"): _always(True),
        (native, "_accelerator_getDeviceStats"): statistics,
        (native, "_accelerator_getMemoryInfo"): free_and_total,
        (native, "_accelerator_resetPeakStats"): reset_peaks,
        (native, "_accelerator_resetAccumulatedStats"): _always(None),
        (native, "_accelerator_emptyCache"): empty_cache,
        (native, "_accelerator_emptyHostCache"): _always(None),
    }


def _mark_step_begin() -> None:
    """torch.compiler.cudagraph_mark_step_begin, which imports the compiler."""
    trees: Any = sys.modules.get("torch._inductor.cudagraph_trees")
    if trees is not None:
        trees.mark_step_begin()


def _about_execution() -> dict[tuple[Any, str], Any]:
    cuda, native = torch.cuda, torch._C
    generator = torch.Generator(device="cuda")
    state = {"set_rng_state": _always(None), "set_rng_state_all": _always(None)}
    seeds = {name: _always(None) for name in ("manual_seed", "manual_seed_all", "seed", "seed_all")}
    return {
        (cuda, "Stream"): Stream,
        (cuda.streams, "Stream"): Stream,
        (cuda, "Event"): Event,
        (cuda.streams, "Event"): Event,
        (native, "_cuda_getCurrentStream"): stream_ids,
        (native, "_cuda_getDefaultStream"): lambda *device: (0, *stream_ids()[1:]),
        (native, "_cuda_getCurrentRawStream"): lambda *device: stream_ids()[0],
        (native, "_scatter"): _scatter,
        (cuda, "synchronize"): _always(None),
        (torch.accelerator, "synchronize"): _always(None),
        (cuda, "ipc_collect"): _always(None),
        (native, "_cuda_get_sync_debug_mode"): _always(0),
        (native, "_cuda_set_sync_debug_mode"): _always(None),
        (torch.compiler, "cudagraph_mark_step_begin"): _mark_step_begin,
        (cuda, "default_generators"): (generator,),
        **{(cuda, name): answer for name, answer in {**seeds, **state}.items()},
        (cuda, "initial_seed"): lambda: generator.initial_seed(),
        (cuda, "get_rng_state"): lambda *a, **k: generator.get_state(),
        (cuda, "get_rng_state_all"): lambda *a, **k: [generator.get_state()],
        (cuda.nvtx, "_nvtx"): types.SimpleNamespace(
            **{name: _always(0) for name in ("rangePushA", "rangePop", "rangeStartA", "rangeEnd", "markA",
                                             "deviceRangeStart", "deviceRangeEnd")}),
    }


def _about_libraries(device: Any) -> dict[tuple[Any, str], Any]:
    cuda, cudnn = torch.cuda, sys.modules["torch.backends.cudnn"]
    backend: Any = cudnn.m  # A class that replaces the module.
    runtime = types.SimpleNamespace(
        cudaError=types.SimpleNamespace(success=0),
        **{name: _always(0) for name in ("cudaProfilerStart", "cudaProfilerStop", "cudaHostRegister", "cudaHostUnregister",
                                         "cudaDeviceSynchronize", "cudaStreamSynchronize")},
        cudaMemGetInfo=lambda *index: cuda.mem_get_info(),
    )
    return {
        (cuda, "cudart"): _always(runtime),
        (cuda, "_cudart"): runtime,
        (cuda, "check_error"): _always(None),
        (backend, "is_available"): _always(True),
        (backend, "_init"): _always(True),
        (backend, "version"): _always(device.cudnn_version),
        (torch.backends.cuda, "is_built"): _always(True),
        (torch.version, "cuda"): "13.0",
    }


ABSENT = object()
_Table = dict[tuple[Any, str], Any]


class Replaced:
    """Replacements in torch."""

    def __init__(self, table: _Table) -> None:
        self.table = table
        self.before = {(owner, name): owner.__dict__.get(name, ABSENT) for owner, name in table}

    def put_in(self) -> None:
        for (owner, name), value in self.table.items():
            setattr(owner, name, value)

    def take_out(self) -> None:
        for (owner, name), value in self.before.items():
            if value is not ABSENT:
                setattr(owner, name, value)
            elif name in owner.__dict__:  # An interrupt may have come before it was set.
                delattr(owner, name)

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Removes the replacements, for modules of torch that copy functions when they are imported."""
        try:
            self.take_out()
            yield
        finally:
            self.put_in()


@contextlib.contextmanager
def replaced(table: _Table) -> Iterator[Replaced]:
    """The answers are in place while the context is open."""
    made = Replaced(table)
    try:
        made.put_in()
        yield made
    finally:
        made.take_out()
