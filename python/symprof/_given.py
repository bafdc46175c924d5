"""`symprof.given`: a program gives the values of a tensor that has none on the simulated device."""
import contextlib
from collections.abc import Iterator
from typing import Any, TypeVar

from ._error import Error

Tensor = TypeVar("Tensor")

_programs: list[Any] = []  # Of the simulations that run; the innermost is last.


@contextlib.contextmanager
def inside(program: Any) -> Iterator[None]:
    """`given` speaks to this program while the context is open."""
    _programs.append(program)
    try:
        yield
    finally:
        _programs.remove(program)


def given(tensor: Tensor, value: Any) -> Tensor:
    """Sets the values of a tensor on the simulated device: a number, a list, a NumPy array or a tensor on the host, which is
    broadcast to the tensor's shape. Returns the tensor; outside of a simulation it has no other effect."""
    if _programs and _is_tensor(tensor) and _programs[-1].has_no_values(tensor):
        _programs[-1].give_values(tensor, _values(tensor, value))
    return tensor


def _is_tensor(thing: Any) -> bool:
    import torch

    return isinstance(thing, torch.Tensor)


def _values(tensor: Any, value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor) and value.device.type != "cpu":
        raise Error(f"given: found values on {value.device}.\n  Give a number, a list, an array or a tensor on the host.")
    if tensor.numel() > MOST_ELEMENTS:
        raise Error(f"given: found a tensor of {tensor.numel():,} elements; at most {MOST_ELEMENTS:,} can have values.\n"
                    "  Say the values of a part of it, or of what is computed from it.")
    values = torch.as_tensor(value, device="cpu").detach()
    try:
        return values.to(tensor.dtype).expand(tensor.shape).contiguous()
    except RuntimeError:
        raise Error(f"given: found values of shape {tuple(values.shape)} for a tensor of shape {tuple(tensor.shape)}.\n"
                    "  Give values that can be broadcast to it.") from None


MOST_ELEMENTS = 2**20  # As a call that is followed may make (meta/fake/known_values.h).
