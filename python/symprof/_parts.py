"""The plain tensors inside of tensor subclasses, and the tensors inside of Python values."""
import collections
import itertools
import types
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

_PLAIN = (torch.Tensor, torch.nn.Parameter)
# Objects that own others: their references are not part of a value.
_OWNERS = (torch.nn.Module, torch.optim.Optimizer, type, types.ModuleType, types.FunctionType, types.MethodType, torch.Generator)
_LEAVES = (str, bytes, int, float, complex, bool, type(None), torch.dtype, torch.device, torch.Size)


def parts_of(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The plain tensors of this rank with the tensor's numbers: a plain tensor is its own part, and DTensor's is its local
    shard. For a subclass without `__tensor_flatten__`, the tensor itself and the tensors among its attributes (the scales of
    numbers of few bits)."""
    if type(tensor) in _PLAIN:
        yield tensor
    elif is_traceable_wrapper_subclass(tensor):
        for inner in flattened(tensor).values():
            if isinstance(inner, torch.Tensor):  # DTensor names its mesh, too (torch/distributed/tensor/_api.py).
                yield from parts_of(inner)
    else:
        yield tensor
        for attribute in tensors_in(_attributes(tensor)):
            yield from parts_of(attribute)


def parts_of_wrapper(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The parts of a tensor without storage: none if it does not list its inner tensors, as tracers' tensors."""
    if is_traceable_wrapper_subclass(tensor):
        yield from parts_of(tensor)


def flattened(wrapper: Any) -> dict[str, Any]:
    """A wrapper's inner tensors, by name."""
    names, _ = wrapper.__tensor_flatten__()
    return {name: getattr(wrapper, name) for name in names}


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in lists, tuples, dictionaries and attributes of objects, each once. Modules and optimizers own their
    tensors themselves and are passed over."""
    seen: set[int] = set()
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, torch.Tensor):
            if id(one) not in seen:
                seen.add(id(one))
                yield one
        elif not isinstance(one, (*_LEAVES, *_OWNERS)) and id(one) not in seen:
            seen.add(id(one))
            rest.extend(reversed(list(_members(one))))


def elements_of(parameter: torch.Tensor) -> int:
    """How many numbers a parameter has on this rank, however they are packed."""
    if type(parameter) in _PLAIN:
        return parameter.numel()
    if isinstance(local := getattr(parameter, "_local_tensor", None), torch.Tensor):
        return elements_of(local)
    return max([parameter.numel(), *_unpacked_sizes(parameter)])


def _attributes(tensor: torch.Tensor) -> dict[str, Any]:
    """Without the gradients and hooks that autograd keeps, which are in no `__dict__`."""
    attributes: dict[str, Any] = getattr(tensor, "__dict__", {})
    return attributes


def _unpacked_sizes(parameter: torch.Tensor) -> Iterator[int]:
    """A tensor with several numbers per byte has an object beside it with their shape."""
    if is_traceable_wrapper_subclass(parameter):
        return
    for value in _attributes(parameter).values():
        shape = None if isinstance(value, torch.Tensor) else getattr(value, "shape", None)
        if isinstance(shape, torch.Size):
            yield shape.numel()


def _members(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        yield from value
    else:
        slots = itertools.chain.from_iterable(_slots(kind) for kind in type(value).__mro__)
        yield from getattr(value, "__dict__", {}).values()
        yield from (getattr(value, name) for name in slots if hasattr(value, name))


def _slots(kind: type) -> tuple[str, ...]:
    slots: Any = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(name for name in slots if name not in ("__dict__", "__weakref__"))
