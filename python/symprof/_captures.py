"""Tensors that a function captures: from its closure, its module. Higher-order operators have gradients only for their
operands; in PyTorch torch._dynamo makes operands of captured tensors, and here these classes do."""
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from . import _native

Function = Callable[..., Any]


class _Captures(TorchFunctionMode):
    def __init__(self, own: Sequence[Any]) -> None:
        super().__init__()
        self.own = {id(leaf): leaf for leaf in own}
        self.found: dict[int, torch.Tensor] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for leaf in tree_leaves((args, kwargs)):
            if isinstance(leaf, torch.Tensor) and id(leaf) not in self.own:
                self.found[id(leaf)] = leaf
        made = func(*args, **(kwargs or {}))
        self.own.update((id(leaf), leaf) for leaf in tree_leaves(made) if isinstance(leaf, torch.Tensor))
        return made


class _Substitutes(TorchFunctionMode):
    """Substitutes other tensors for those that functions capture."""

    def __init__(self, captured: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.others = {id(tensor): other for tensor, other in zip(captured, others, strict=True)}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map(lambda leaf: self.others.get(id(leaf), leaf), (args, kwargs or {}))
        return func(*args, **kwargs)


def captured_by(function: Function, make_arguments: Callable[[], Sequence[Any]]) -> list[torch.Tensor]:
    """In the order of their first use. The function runs for it, unrecorded."""
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

    with _native.Unrecorded():
        arguments = make_arguments()
        captures = _Captures(arguments)
        with TransformGetItemToIndex(), captures:
            function(*arguments)
        captures.own.clear()
        del arguments
    return list(captures.found.values())


def _differentiable(functions: Sequence[Function], make_arguments: Callable[[], Sequence[Any]]) -> list[torch.Tensor]:
    found = {id(tensor): tensor for function in functions for tensor in captured_by(function, make_arguments)}
    return [tensor for tensor in found.values() if tensor.requires_grad]


def _with_operands(function: Function, captured: Sequence[torch.Tensor]) -> Function:
    def call(*arguments: Any) -> Any:
        own, others = arguments[:-len(captured)], arguments[-len(captured):]
        with _Substitutes(captured, others):
            return function(*own)

    return call


def _lifted(call: Function, count: int, slices: Function) -> Function:
    """`call(self, ..., *functions, *inputs)` of an operator, the last of whose inputs are its functions' other operands.
    `slices` makes the functions' arguments of `inputs`."""

    def lift(self: Any, *arguments: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled() or torch.utils._python_dispatch._get_current_dispatch_mode() is not None:
            return call(self, *arguments, **kwargs)
        if "additional_inputs" in kwargs:
            arguments = (*arguments, kwargs.pop("additional_inputs"))
        first = next(i for i, argument in enumerate(arguments) if callable(argument) and not isinstance(argument, torch.Tensor))
        functions, inputs = arguments[first:first + count], arguments[first + count:]
        captured = _differentiable(functions, lambda: slices(*inputs))
        if not captured:
            return call(self, *arguments, **kwargs)
        functions = tuple(_with_operands(function, captured) for function in functions)
        return call(self, *arguments[:first], *functions, *inputs[:-1], (*inputs[-1], *captured), **kwargs)

    return lift


def _of_flat_branches(call: Function) -> Function:
    """torch.cond's operator, whose branches return tuples of tensors; a program's branches may return any structure."""

    def cond(self: Any, pred: Any, true_fn: Function, false_fn: Function, operands: Any) -> Any:
        specs: list[Any] = []

        def flat(function: Function) -> Function:
            def branch(*arguments: Any) -> Any:
                leaves, spec = tree_flatten(function(*arguments))
                specs.append(spec)
                return tuple(leaves)

            return branch

        made = call(self, pred, flat(true_fn), flat(false_fn), operands)
        return tree_unflatten(list(made), specs[0])

    return cond


def _rows(tensors: Sequence[Any]) -> list[Any]:
    """The slices of the scanned tensors that the function receives."""
    return [tensor[0] for tensor in tensors]


def answers() -> dict[tuple[Any, str], Any]:
    """By class and name."""
    from torch._higher_order_ops.associative_scan import associative_scan_op
    from torch._higher_order_ops.cond import cond_op
    from torch._higher_order_ops.map import map_impl
    from torch._higher_order_ops.scan import scan_op
    from torch._higher_order_ops.while_loop import while_loop_op

    table: list[tuple[Any, int, Function]] = [
        (cond_op, 2, lambda operands: [*operands]),
        (while_loop_op, 2, lambda carried, more: [*carried, *more]),
        (scan_op, 1, lambda carried, over, more: [*carried, *_rows(over), *more]),
        (associative_scan_op, 1, lambda over, more: [*_rows(over), *_rows(over), *more]),
        (map_impl, 1, lambda over, more: [*_rows(over), *more]),
    ]
    lifted = {(type(operator), "__call__"): _lifted(type(operator).__call__, count, slices) for operator, count, slices in table}
    place = (type(cond_op), "__call__")
    return {**lifted, place: _of_flat_branches(lifted[place])}
