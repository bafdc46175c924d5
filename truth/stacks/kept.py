"""Bytes that autograd keeps for backward, by torch.autograd.graph.saved_tensors_hooks."""
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass


def plain_tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in a value: in lists, dictionaries, tensor subclasses and attributes of plain objects."""
    if isinstance(value, torch.Tensor):
        if torch._C._functorch.is_functorch_wrapped_tensor(value):
            return  # What a transform of torch.func makes of a tensor has no storage of its own.
        if is_traceable_wrapper_subclass(value):
            for name in value.__tensor_flatten__()[0]:
                yield from plain_tensors(getattr(value, name))
        elif value.layout is torch.strided:
            yield from () if value._is_zerotensor() else (value,)  # A zero of forward mode has no memory.
        else:
            yield from (value._indices(), value._values()) if value.layout is torch.sparse_coo else ()
    elif isinstance(value, dict):
        for part in value.values():
            yield from plain_tensors(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from plain_tensors(part)
    elif not callable(value):
        yield from plain_tensors(getattr(value, "__dict__", None) or ())


def storages_of(value: Any, device: str = "") -> dict[int, int]:
    """Bytes by storage, on one device or on all."""
    return {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in plain_tensors(value)
            if device in ("", tensor.device.type)}


class Kept:
    """A tensor for as long as a node of autograd keeps it."""

    def __init__(self, tensor: torch.Tensor, owner: "Saved") -> None:
        # Detached: a tensor that knows its graph, kept by that graph, would live until Python collects cycles.
        self.tensor = tensor if torch._C._functorch.is_functorch_wrapped_tensor(tensor) else tensor.detach()
        self.owner = owner
        self.storages = {key: size for key, size in storages_of(tensor).items() if key not in owner.left_out and not owner.again}
        owner.take(self.storages)

    def __del__(self) -> None:
        self.owner.drop(self.storages)


class Saved:
    """Distinct storages that are saved at once, without those of parameters and buffers; a view counts as its whole storage."""

    def __init__(self) -> None:
        self.left_out: set[int] = set()
        self.count: dict[int, int] = {}
        self.now = self.most = 0
        self.again = 0  # More than 0: a reentrant checkpoint runs its part of forward again, and saves for itself.

    def leave_out(self, tensors: Any) -> None:
        """Of leaves alone: what torch.func puts in the place of a parameter is saved as any tensor is."""
        self.left_out.update(storages_of([tensor for tensor in tensors if tensor.is_leaf]))

    def take(self, storages: dict[int, int]) -> None:
        for key, size in storages.items():
            self.count[key] = self.count.get(key, 0) + 1
            self.now += size if self.count[key] == 1 else 0
        self.most = max(self.most, self.now)

    def drop(self, storages: dict[int, int]) -> None:
        for key, size in storages.items():
            self.count[key] -= 1
            if self.count[key] == 0:
                del self.count[key]
                self.now -= size

    def pack(self, tensor: torch.Tensor) -> "Kept":
        return Kept(tensor, self)

    @staticmethod
    def unpack(kept: Kept) -> torch.Tensor:
        return kept.tensor
