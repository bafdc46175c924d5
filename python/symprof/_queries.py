"""Rarer queries of CUDA's part of torch._C, which PyTorch's CPU build lacks: NCCL, other devices, tuning, pools. Queries
that change a figure are answered as by the device; a function that cannot be simulated is refused at the program's line.
"""
import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import torch

from ._cuda import _always, refused
from ._error import Error

_NCCL = (2, 28, 9)  # The package that PyTorch 2.13 requires by pip.


def _one(devices: Any, what: str) -> None:
    if len(devices) > 1:
        raise Error(f"{what}: found {len(devices)} devices; one is simulated.\n  Use DistributedDataParallel, with `--ranks`.")


def _first_alone() -> Any:
    """A function of each name: the compiler refuses two names of one."""
    def set_device(device: Any) -> None:
        if (index := torch.cuda._utils._get_device_index(device, optional=True)) > 0:
            raise Error(f"cuda:{index}: of the devices of a program, cuda:0 alone is simulated.\n"
                        "  Give each device a process of its own (torch.distributed).")

    return set_device


def _broadcast(tensor: torch.Tensor, devices: Any) -> list[torch.Tensor]:
    _one(devices, "broadcast")
    return [tensor]


def _broadcast_coalesced(tensors: Any, devices: Any, buffer_size: int) -> list[list[torch.Tensor]]:
    _one(devices, "broadcast_coalesced")
    return [list(tensors)]


def _gather(tensors: Any, dim: int, destination: Any = None) -> torch.Tensor:
    """As torch/csrc/cuda/comm.cpp: one tensor, on the device unless the destination is the host (-1)."""
    whole = torch.cat(list(tensors), dim)
    return whole.cpu() if destination == -1 else whole


class MemPool:
    """torch.cuda.MemPool: its blocks are in the common pool here, and a report notes it."""

    _ids = itertools.count(1)
    warn: Any = staticmethod(lambda sentence: None)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.id = (0, next(self._ids))
        self.warn("torch.cuda.MemPool: its blocks are taken from the common pool, so reserved bytes may differ.")

    def use_count(self) -> int:
        return 1

    def snapshot(self, include_traces: bool = True) -> Any:
        cuda: Any = torch.cuda
        return cuda.memory_snapshot()


@contextlib.contextmanager
def _use_mem_pool(pool: Any, device: Any = None) -> Iterator[None]:
    yield


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By module and name."""
    return {**_about_devices(program), **_about_nccl(), **_about_tuning(program), **_about_pools(program)}


def _about_devices(program: Any) -> dict[tuple[Any, str], Any]:
    cuda, native = torch.cuda, torch._C
    device = program.device()
    architecture = f"sm_{device.compute_major}{device.compute_minor}"
    external = refused("a stream of another library", "Use torch.cuda.Stream().")
    kernel = refused("a kernel in CUDA's language", "Write it as an operator of torch.library with a fake kernel (register_fake).")
    metadata = [""]
    return {
        (native, "_cuda_getArchFlags"): _always(architecture),
        (native, "_cuda_synchronize"): _always(None),
        (native, "_cuda_sleep"): _always(None),
        (native, "_cuda_ipc_collect"): _always(None),
        **{(owner, name): _first_alone() for owner, name in ((cuda, "set_device"), (native, "_cuda_setDevice"),
           (torch.accelerator, "set_device_index"), (torch.accelerator, "set_device_idx"))},
        (native, "_cuda_exchangeDevice"): _always(0),
        (native, "_cuda_maybeExchangeDevice"): _always(0),
        (native, "_cuda_canDeviceAccessPeer"): _always(True),
        (native, "_cuda_getCurrentBlasHandle"): _always(1),
        (native, "_cuda_getCurrentSolverHandle"): _always(1),
        (native, "_cuda_getStreamFromExternal"): external,
        (native, "_cuda_jiterator_compile_and_launch_kernel"): kernel,
        (cuda, "_compile_kernel"): kernel,
        (cuda, "get_gencode_flags"): lambda: f"-gencode compute=compute_{architecture[3:]},code={architecture}",
        (cuda, "list_gpu_processes"): _always("GPU:0\nno processes are running"),
        (cuda.memory, "list_gpu_processes"): _always("GPU:0\nno processes are running"),
        (native, "_cuda_allocationTraceback"): _always(None),
        (native, "_cuda_setMemoryMetadata"): lambda text: metadata.__setitem__(0, text),
        (native, "_cuda_getMemoryMetadata"): lambda: metadata[0],
        (native, "_host_emptyCache"): _always(None),
        (native, "_broadcast"): _broadcast,
        (native, "_broadcast_coalesced"): _broadcast_coalesced,
        (native, "_gather"): _gather,
    }


def _about_nccl() -> dict[tuple[Any, str], Any]:
    native = torch._C
    major, minor, patch = _NCCL
    collective = refused("torch.cuda.nccl", "Use torch.distributed, with `--ranks`: its collectives are simulated.")
    names = ("all_gather", "all_reduce", "broadcast", "init_rank", "reduce", "reduce_scatter")
    return {
        (native, "_nccl_version"): _always(major << 32 | minor << 16 | patch),
        (native, "_nccl_version_suffix"): _always(b""),
        (native, "_nccl_unique_id"): _always(bytes(128)),
        **{(native, f"_nccl_{name}"): collective for name in names},
    }


def _about_tuning(program: Any) -> dict[tuple[Any, str], Any]:
    """Settings that decide which kernel runs, and change nothing here: they return the values that were set
    (torch/cuda/tunable.py)."""
    native = torch._C
    defaults: dict[str, Any] = {
        "tunableop_filename": "tunableop_results.csv", "tunableop_max_tuning_duration": 30, "tunableop_max_tuning_iterations": 100,
        "tunableop_rotating_buffer_size": -1, "cudnn_benchmark_limit": 10,
    }
    switches = {"tunableop_enable": "tunableop_is_enabled", "tunableop_tuning_enable": "tunableop_tuning_is_enabled",
                "record_untuned_enable": "record_untuned_is_enabled"}
    state = {**defaults, **dict.fromkeys(switches, False)}

    def get(name: str) -> Any:
        return lambda: state[name]

    def put(name: str) -> Any:
        return lambda value=True, *others: state.__setitem__(name, value)

    answered: dict[tuple[Any, str], Any] = {}
    for name in defaults:
        family, _, rest = name.partition("_")
        answered[native, f"_cuda_{family}_get_{rest}" if family == "tunableop" else f"_cuda_get_{name}"] = get(name)
        answered[native, f"_cuda_{family}_set_{rest}" if family == "tunableop" else f"_cuda_set_{name}"] = put(name)
    for switch, question in switches.items():
        answered[native, f"_cuda_{switch}"], answered[native, f"_cuda_{question}"] = put(switch), get(switch)
    return {
        **answered,
        (native, "_cuda_tunableop_get_results"): lambda: (),
        (native, "_cuda_tunableop_get_validators"): lambda: (),
        (native, "_cuda_tunableop_read_file"): lambda *name: False,
        (native, "_cuda_tunableop_set_numerical_check_tolerances"): _always(None),
    }


def _about_pools(program: Any) -> dict[tuple[Any, str], Any]:
    cuda = torch.cuda
    # Classes: programs use them in annotations and isinstance.
    external = type("ExternalStream", (), {"__init__": refused("a stream of another library", "Use torch.cuda.Stream().")})
    pool = type("MemPool", (MemPool,), {"warn": staticmethod(program.warn)})

    def dump_snapshot(*args: Any, **kwargs: Any) -> None:
        program.warn("torch.cuda.memory._dump_snapshot: no file was written; symprof writes a snapshot of the step that it reports.")

    return {
        **{(owner, "MemPool"): pool for owner in (cuda, cuda.memory)},
        **{(owner, "use_mem_pool"): _use_mem_pool for owner in (cuda, cuda.memory)},
        (cuda.memory, "_dump_snapshot"): dump_snapshot,
        **{(owner, "ExternalStream"): external for owner in (cuda, cuda.streams)},
    }
