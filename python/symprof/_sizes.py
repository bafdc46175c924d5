"""The dimensions of a module's inputs, by name, and inputs of other sizes."""
import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ._interrupts import uninterrupted


def is_integer(tensor: torch.Tensor) -> bool:
    return not tensor.is_floating_point() and not tensor.is_complex()


def has_values(tensor: torch.Tensor) -> bool:
    """That decide sizes and branches: integers and truth values in host memory."""
    return is_integer(tensor) and tensor.device.type == "cpu" and not isinstance(tensor, FakeTensor)


def sizes_of(value: Any) -> dict[str, int]:
    """`batch` is the first dimension of the first tensor, `seq` the second of the first tensor of integers."""
    tensors = _tensors_in(value)
    batched = [tensor for tensor in tensors if tensor.dim() > 0]
    sequences = [tensor for tensor in batched if tensor.dim() > 1 and is_integer(tensor)]
    sizes = {"batch": batched[0].shape[0]} if batched else {}
    return {**sizes, "seq": sequences[0].shape[1]} if sequences else sizes


def _tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors that copy.deepcopy meets, in any object."""
    found: list[torch.Tensor] = []

    def note(tensor: torch.Tensor, memo: Any) -> torch.Tensor:
        found.append(tensor)
        return tensor

    with copying_tensors_by(note):
        copy.deepcopy(value)
    return found


@contextlib.contextmanager
def copying_tensors_by(function: Any) -> Iterator[None]:
    """While it is open, copy.deepcopy copies tensors by this function of the tensor and the memo."""
    before = [(owner, owner.__deepcopy__) for owner in (torch.Tensor, torch.nn.Parameter)]
    try:
        for owner, _ in before:
            setattr(owner, "__deepcopy__", function)
        yield
    finally:
        with uninterrupted():
            for owner, own in before:
                setattr(owner, "__deepcopy__", own)


class Resizing:
    """Tensors resized where their sizes are those of `batch` and `seq`."""

    def __init__(self, before: dict[str, int], after: dict[str, int]) -> None:
        self._before, self._after = before, after

    def _size(self, name: str, size: int) -> int:
        return self._after[name] if size == self._before.get(name) else size

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        shape = list(tensor.shape)
        if shape:
            shape[0] = self._size("batch", shape[0])
        if is_integer(tensor):
            shape[1:] = [self._size("seq", size) for size in shape[1:]]
        if shape == list(tensor.shape):
            return tensor
        return _repeated(tensor, shape) if has_values(tensor) else _empty(tensor, shape)


def _repeated(tensor: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """The values repeated, so that a mask stays one."""
    for dimension, size in enumerate(shape):
        if size != tensor.shape[dimension]:
            tensor = tensor.index_select(dimension, torch.arange(size) % max(tensor.shape[dimension], 1))
    return tensor


def _empty(tensor: torch.Tensor, shape: list[int]) -> torch.Tensor:
    is_channels_last = tensor.dim() == 4 and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=torch.channels_last)
    layout = torch.channels_last if is_channels_last else torch.contiguous_format
    return torch.empty(shape, dtype=tensor.dtype, device="meta", memory_format=layout).requires_grad_(tensor.requires_grad)


def shapes_of(value: Any) -> Any:
    """A copy whose tensors have no memory, but for the values that decide sizes."""

    def shape(tensor: torch.Tensor, memo: Any) -> torch.Tensor:
        return tensor.detach().clone() if has_values(tensor) else _empty(tensor, list(tensor.shape))

    with copying_tensors_by(shape):
        return copy.deepcopy(value)
