"""Arguments of a recorded call by their names: those of its operator's schema, or of its Triton kernel's parameters."""
import collections
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import torch

T = TypeVar("T")

# Parameters of a Triton kernel, by its operator's name ("triton::add_one"): python/symprof/_triton.py adds them.
kernel_parameters: dict[str, tuple[str, ...]] = {}
# Arguments of such an operator: the tensors, the place of each among the parameters, and pairs of a number's place and the number.
KERNEL_SCHEMA = "(Tensor[] tensors, int[] places, int[] numbers) -> ()"
_PLACES, _NUMBERS = 1, 2


def _of_kernel(names: Sequence[str], tensors: Sequence[T], integers: Sequence[tuple[int, int]]) -> dict[str, Any]:
    if not names:
        return {}
    places = [value for position, value in integers if position == _PLACES]
    numbers = [value for position, value in integers if position == _NUMBERS]
    found: dict[str, Any] = {names[place]: number for place, number in zip(numbers[::2], numbers[1::2], strict=True)}
    return {**found, **{names[place]: tensor for place, tensor in zip(places, tensors)}}


def _schema(op: str) -> Sequence[Any]:
    """Arguments of the operator's default overload; none where torch.library does not have it (any more)."""
    space, _, name = op.partition("::")
    packet = getattr(getattr(torch.ops, space), name, None)
    overloads = packet.overloads() if packet is not None else []
    if not overloads:
        return ()
    arguments: Sequence[Any] = getattr(packet, "default" if "default" in overloads else overloads[0])._schema.arguments
    return arguments


def by_name(op: str, tensors: Sequence[T], positions: Sequence[int], integers: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Tensors, and integers, of the arguments that have any; a list is a tuple."""
    if op in kernel_parameters:
        return _of_kernel(kernel_parameters[op], tensors, integers)
    groups: dict[int, list[Any]] = collections.defaultdict(list)
    for position, value in (*integers, *zip(positions, tensors)):
        groups[position].append(value)
    return {argument.name: tuple(groups[place]) if "List" in str(argument.type) else groups[place][0]
            for place, argument in enumerate(_schema(op)) if place in groups}


def in_order(op: str, arguments: Mapping[str, Any]) -> list[Any]:
    """The operator's arguments in order, up to the last one that is known; missing ones in between are defaults."""
    schema = _schema(op)
    known = max((place + 1 for place, argument in enumerate(schema) if argument.name in arguments), default=0)
    return [arguments.get(argument.name, argument.default_value) for argument in schema[:known]]
