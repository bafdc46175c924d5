"""Programs for several ranks: the process is rank 0 of a simulated group.

torch.distributed gets PyTorch's own fake process group, whose collectives do nothing. Buckets, shards and gathered tensors
take memory as on a GPU; NCCL's own allocations are outside PyTorch's allocator.
"""
import contextlib
import os
from collections.abc import Iterator
from typing import Any

import torch

from . import _collectives
from ._cuda import refused, replaced


@contextlib.contextmanager
def group_of(ranks: int | None, program: Any) -> Iterator[None]:
    """While the context is open, `init_process_group` creates a group of `ranks`; None: of WORLD_SIZE ranks."""
    if not torch.distributed.is_available():
        yield
        return
    size = ranks if ranks is not None else int(os.environ.get("WORLD_SIZE", "1"))
    with contextlib.ExitStack() as exits:
        if ranks is not None:
            exits.enter_context(_variables(ranks))
        exits.enter_context(replaced({**_answers(size), **_collectives.answers(), **(_tensor_parallel(program) if size > 1 else {})}))
        exits.callback(_leave_group, torch.distributed.is_initialized())
        yield


class ProcessGroupNCCL:
    """Settings of NCCL's group (torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp), which change nothing here. No group is one."""

    NCCL_CTA_POLICY_DEFAULT, NCCL_CTA_POLICY_EFFICIENCY, NCCL_CTA_POLICY_ZERO = 0, 1, 2

    class NCCLConfig:
        """Takes every setting."""

    class Options:
        def __init__(self, is_high_priority_stream: bool = False) -> None:
            self.is_high_priority_stream = is_high_priority_stream
            self.config = ProcessGroupNCCL.NCCLConfig()


def _leave_group(was_there: bool) -> None:
    if not was_there and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@contextlib.contextmanager
def _variables(ranks: int) -> Iterator[None]:
    """The variables that torchrun sets for rank 0 of one machine."""
    told = {"RANK": "0", "LOCAL_RANK": "0", "GROUP_RANK": "0", "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
            "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _answers(size: int) -> dict[tuple[Any, str], Any]:
    distributed = torch.distributed
    c10d = distributed.distributed_c10d
    init, new_group = c10d.init_process_group, c10d.new_group

    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        # Importing it registers the backend.
        from torch.testing._internal.distributed.fake_pg import FakeStore

        kept = {name: value for name, value in kwargs.items() if name in ("timeout", "group_name")}
        init("fake", store=FakeStore(), rank=0, world_size=size, **kept)

    def make_group(ranks: Any = None, timeout: Any = None, backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        return new_group(ranks, timeout, group_desc=kwargs.get("group_desc"))

    def verify_shapes(group: Any, tensors: Any, logger: Any = None) -> None:
        """DDP compares the shapes of all ranks' parameters (torch/csrc/distributed/c10d/reducer.cpp). The simulated ranks are
        alike, so only the tensor that is sent is allocated, and freed at once."""
        if tensors:
            torch.empty(sum(1 + tensor.dim() for tensor in tensors), dtype=torch.int64, device=tensors[0].device)

    backend_of = distributed.get_backend

    def get_backend(group: Any = None) -> Any:
        """NCCL, the backend that the program requested."""
        backend = backend_of(group)
        return "nccl" if backend == "fake" else backend

    owners = (distributed, c10d)
    return {
        **{(owner, "init_process_group"): init_process_group for owner in owners},
        **{(owner, "new_group"): make_group for owner in owners},
        **{(owner, "is_nccl_available"): lambda: True for owner in owners},
        **{(owner, "ProcessGroupNCCL"): ProcessGroupNCCL for owner in owners},
        (distributed, "get_backend"): get_backend,
        **{(module, "_verify_param_shape_across_processes"): verify_shapes for module in _verifiers()},
    }


def _tensor_parallel(program: Any) -> dict[tuple[Any, str], Any]:
    """Each style of tensor parallelism notes that memory is not exact."""
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor.parallel import style

    if torch.__version__ < "2.13":  # Its dispatcher comes to fake tensors before Python's subclasses (c10/core/DispatchKey.h).
        return {(DTensor, "__new__"): refused("DTensor", "Shards of parameters (FSDP2, tensor parallelism) need torch 2.13 or newer.")}

    def saying(apply: Any) -> Any:
        def apply_and_say(*args: Any, **kwargs: Any) -> Any:
            program.warn("tensor parallelism: memory is not exact. Where it was compared, peaks were within 3.1 % of PyTorch's, and "
                         "reserved bytes within 7.5 %.")
            return apply(*args, **kwargs)

        return apply_and_say

    styles = (style.ColwiseParallel, style.RowwiseParallel, style.SequenceParallel)
    return {(parallel, "_apply"): saying(parallel._apply) for parallel in styles}


def _verifiers() -> list[Any]:
    from torch.distributed import utils
    from torch.nn.parallel import distributed as data_parallel

    return [utils, data_parallel]
