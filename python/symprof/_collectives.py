"""Collectives whose behavior differs from NCCL's in PyTorch's fake process group
(torch/csrc/distributed/c10d/FakeProcessGroup.hpp): the other ranks have rank 0's values, and objects that only another rank
could create are refused."""
import pickle
from typing import Any

import torch

from ._error import Error


def _gather_one(of_torch: Any) -> Any:
    """The fake group copies the input into parts of the output's first dimension; NCCL fills memory of any shape."""

    def gather(output_tensor: Any, input_tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return of_torch(output_tensor.view(-1), input_tensor.view(-1), *args, **kwargs)

    return gather


def _of_another_rank(verb: str, rank: int) -> Error:
    return Error(f"{verb}: waits for a Python object of rank {rank}, and rank 0 runs alone.\n"
                 "  Make the object on rank 0, too, where it does not depend on the other rank.")


def _source(src: int | None, group: Any, group_src: int | None) -> int:
    if group_src is not None:
        ranks: Any = torch.distributed
        return int(ranks.get_global_rank(group or ranks.group.WORLD, group_src))
    return src or 0


def _all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    object_list[:] = [pickle.loads(pickle.dumps(obj)) for _ in object_list]


def _gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
                   group_dst: int | None = None) -> None:
    if object_gather_list is not None:
        _all_gather_object(object_gather_list, obj)


def _broadcast_object_list(object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
                           group_src: int | None = None) -> None:
    if rank := _source(src, group, group_src):
        raise _of_another_rank("broadcast_object_list", rank)


def _scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                         src: int | None = None, group: Any = None, group_src: int | None = None) -> None:
    if rank := _source(src, group, group_src):
        raise _of_another_rank("scatter_object_list", rank)
    scatter_object_output_list[0] = (scatter_object_input_list or [None])[0]


def _recv_object_list(object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
                      group_src: int | None = None, use_batch: bool = False) -> int:
    raise _of_another_rank("recv_object_list", _source(src, group, group_src))


def _send_object_list(*args: Any, **kwargs: Any) -> None:
    """Sent objects are dropped."""


_OF_OBJECTS = {"all_gather_object": _all_gather_object, "gather_object": _gather_object, "recv_object_list": _recv_object_list,
               "broadcast_object_list": _broadcast_object_list, "scatter_object_list": _scatter_object_list,
               "send_object_list": _send_object_list}
_INTO_ONE_TENSOR = ("all_gather_single", "all_gather_into_tensor", "_all_gather_base")  # By release of PyTorch.


def answers() -> dict[tuple[Any, str], Any]:
    """By module and name."""
    c10d = torch.distributed.distributed_c10d
    calls = {**_OF_OBJECTS, **{name: _gather_one(getattr(c10d, name)) for name in _INTO_ONE_TENSOR if hasattr(c10d, name)}}
    return {(owner, name): call for owner in (torch.distributed, c10d) for name, call in calls.items() if hasattr(owner, name)}
