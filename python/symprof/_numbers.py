"""Numbers that a program reads from a tensor whose size is an upper bound: `(schedule == t).nonzero().item()`. On a device
it has one element, and PyTorch refuses to read a number from several. C++ returns the substitute for the number
(shape/eager/stand_in.h)."""
import functools
from collections.abc import Callable
from typing import Any

import torch

_NAMES = ("item", "__bool__", "__int__", "__float__", "__index__", "__complex__")


def _reader(program: Any, before_read: Callable[[], None], of_torch: Any) -> Any:
    @functools.wraps(of_torch)
    def read(self: torch.Tensor) -> Any:
        if self.is_cuda:
            before_read()
        if self.numel() > 1 and program.has_upper_bound_size(self):
            self = self.detach().as_strided((), (), self.storage_offset())
        return of_torch(self)

    return read


def answers(program: Any, before_read: Callable[[], None]) -> dict[tuple[Any, str], Any]:
    """By class and name. `before_read` may refuse to read a number of the device."""
    return {(torch.Tensor, name): _reader(program, before_read, getattr(torch.Tensor, name)) for name in _NAMES}
