"""What a program asks about CUDA in Python, answered as the simulated device would.

Each answer stands in one table, `ANSWERS`; `replaced` puts them into torch and takes them out again.
"""
import contextlib
import types
from collections.abc import Iterator
from typing import Any

import torch


class Stream:
    """The one stream of a device that computes nothing."""

    cuda_stream = 0
    stream_id = 0
    priority = 0

    def __init__(self, device: Any = None, *args: Any, **kwargs: Any) -> None:
        self.device = torch.device("cuda", 0)

    def synchronize(self) -> None: ...

    def query(self) -> bool:
        return True

    def wait_stream(self, stream: Any) -> None: ...

    def wait_event(self, event: Any) -> None: ...

    def record_event(self, event: Any = None) -> "Event":
        return event or Event()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *error: Any) -> None: ...


class Event:
    """An event that has happened."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def record(self, stream: Any = None) -> None: ...

    def wait(self, stream: Any = None) -> None: ...

    def query(self) -> bool:
        return True

    def synchronize(self) -> None: ...

    def elapsed_time(self, end: "Event") -> float:
        """No time passes on a device that computes nothing; 1 ms keeps a program from dividing by zero."""
        return 1.0


def _always(value: Any) -> Any:
    """A function of its own each time: torch._dynamo tells functions apart by their identity."""
    return lambda *args, **kwargs: value


def _set_data(self: torch.Tensor, value: torch.Tensor) -> None:
    """`tensor.data = value`. A tensor with storage cannot become one without: the two change places."""
    if value.is_cuda and not self.is_cuda:
        torch.utils.swap_tensors(self, torch.nn.Parameter(value, self.requires_grad) if _is_parameter(self) else value)
    else:
        torch._C.TensorBase.data.__set__(self, value)


def _is_parameter(tensor: torch.Tensor) -> bool:
    return type(tensor) is torch.nn.Parameter


def flatten_parameters(self: torch.nn.RNNBase) -> None:
    """One buffer for a layer's weights, as cuDNN has it; PyTorch's own looks at addresses, which no tensor has here."""
    weights = self._flat_weights
    if not all(isinstance(weight, torch.Tensor) and weight.is_cuda and weight.dtype == weights[0].dtype for weight in weights):
        return
    with torch.no_grad():
        buffer = torch.empty(sum(weight.numel() for weight in weights), dtype=weights[0].dtype, device="cuda")
        for weight, part in zip(weights, buffer.split([weight.numel() for weight in weights]), strict=True):
            weight.data = part.view(weight.shape)


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By module and name. `program` (symprof._native.Program) tells its device, and what the simulated allocator holds."""
    device = program.device()
    properties = types.SimpleNamespace(
        name=device.description or device.name,
        major=device.compute_major,
        minor=device.compute_minor,
        total_memory=device.memory_bytes,
        multi_processor_count=device.multiprocessors,
        warp_size=32,
        is_integrated=0,
        is_multi_gpu_board=0,
        max_threads_per_multi_processor=2048,
        gcnArchName="",
    )
    stream = Stream()
    cuda = torch.cuda
    return {
        (cuda, "_lazy_init"): _always(None),
        (cuda, "init"): _always(None),
        (cuda, "is_initialized"): _always(True),
        (cuda, "is_available"): _always(True),
        (cuda, "device_count"): _always(1),
        (cuda, "current_device"): _always(0),
        (cuda, "set_device"): _always(None),
        (cuda, "synchronize"): _always(None),
        (cuda, "empty_cache"): _always(None),
        (cuda, "ipc_collect"): _always(None),
        (cuda, "is_bf16_supported"): _always(device.compute_major >= 8),
        (cuda, "get_device_capability"): _always((device.compute_major, device.compute_minor)),
        (cuda, "get_device_name"): _always(properties.name),
        (cuda, "get_device_properties"): _always(properties),
        (cuda, "get_arch_list"): _always([f"sm_{device.compute_major}{device.compute_minor}"]),
        (cuda, "current_stream"): _always(stream),
        (cuda, "default_stream"): _always(stream),
        (cuda, "stream"): _always(stream),
        (cuda, "Stream"): Stream,
        (cuda, "Event"): Event,
        (cuda, "manual_seed"): _always(None),
        (cuda, "manual_seed_all"): _always(None),
        (cuda, "seed"): _always(None),
        (cuda, "seed_all"): _always(None),
        (cuda, "get_rng_state"): lambda *a, **k: torch.zeros(16, dtype=torch.uint8, device="cpu"),
        (cuda, "get_rng_state_all"): lambda *a, **k: [torch.zeros(16, dtype=torch.uint8, device="cpu")],
        (cuda, "set_rng_state"): _always(None),
        (cuda, "set_rng_state_all"): _always(None),
        (cuda, "mem_get_info"): lambda *a, **k: (device.memory_bytes - program.memory().reserved_bytes, device.memory_bytes),
        (cuda, "memory_allocated"): lambda *a, **k: program.memory().allocated_bytes,
        (cuda, "max_memory_allocated"): lambda *a, **k: program.memory().peak_allocated_bytes,
        (cuda, "memory_reserved"): lambda *a, **k: program.memory().reserved_bytes,
        (cuda, "max_memory_reserved"): lambda *a, **k: program.memory().peak_reserved_bytes,
        (cuda, "reset_peak_memory_stats"): lambda *a, **k: program.reset_peaks(),
        (torch.backends.cudnn.m, "is_available"): _always(True),
        (torch.backends.cudnn.m, "_init"): _always(True),
        (torch.backends.cudnn.m, "version"): _always(device.cudnn_version),
        (torch.Tensor, "data"): property(torch._C.TensorBase.data.__get__, _set_data),
        # Parameters keep their identity when a model comes to the device.
        (torch.__future__, "_swap_module_params_on_conversion"): True,
        (torch.nn.RNNBase, "flatten_parameters"): flatten_parameters,
        (torch.backends.cuda, "is_built"): _always(True),
        (torch.accelerator, "is_available"): _always(True),
        (torch.accelerator, "current_accelerator"): _always(torch.device("cuda")),
        (torch.accelerator, "device_count"): _always(1),
        (torch.accelerator, "current_device_index"): _always(0),
        (torch.accelerator, "synchronize"): _always(None),
        (torch.version, "cuda"): "13.0",
    }


@contextlib.contextmanager
def replaced(table: dict[tuple[Any, str], Any]) -> Iterator[None]:
    """The answers are in place while the context is open."""
    absent = object()
    before = {(owner, name): owner.__dict__.get(name, absent) for owner, name in table}
    for (owner, name), value in table.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for (owner, name), value in before.items():
            if value is absent:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
