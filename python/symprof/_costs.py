"""Costs of operators that symprof does not know: custom operators, Triton kernels."""
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._error import Error

_FIELDS = ("product_flops", "other_flops", "bytes_read", "bytes_written")


@dataclass(frozen=True)
class Tensor:
    """An argument or a result of a call."""

    sizes: tuple[int, ...]
    dtype: str  # "bfloat16"
    bytes: int

    def numel(self) -> int:
        return math.prod(self.sizes)


@dataclass(frozen=True)
class Call:
    """A call as a rule sees it; arguments that are no tensors, and results that are none, are left out."""

    op: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    def input(self, index: int) -> Tensor:
        return self.inputs[index]

    def output(self, index: int) -> Tensor:
        return self.outputs[index]


@dataclass(frozen=True)
class Cost:
    """Of one call; a multiply-add is 2 FLOPs. Bytes that are not given are those of all inputs, and of all outputs."""

    product_flops: int = 0  # Matrix products, convolutions, attention.
    other_flops: int = 0
    bytes_read: int | None = None
    bytes_written: int | None = None


Rule = Callable[[Call], Cost | None]
_rules: dict[str, Rule] = {}


def cost_rule(op: str) -> Callable[[Rule], Rule]:
    """Says what calls of an operator cost, in every profile that is made from now on. It comes before symprof's own rule.

        @symprof.cost_rule("acme::pool_pairs")
        def pool_pairs(call):
            return symprof.Cost(other_flops=2 * call.output(0).numel())

    The operator's name is that of torch.library; a Triton kernel's is "triton::" and its function's. A call for which the
    rule returns None is unmodelled.
    """
    if "::" not in op:
        raise Error(f"cost_rule: found {op!r}, wanted an operator's whole name.\n  torch.library has it: \"acme::pool_pairs\".")

    def register(rule: Rule) -> Rule:
        _rules[op] = rule
        return rule

    return register


def operators() -> list[str]:
    """Those that have a rule."""
    return list(_rules)


def has_rule(op: str) -> bool:
    return op in _rules


_Asked = Sequence[tuple[Sequence[int], str, int]]


def ask(op: str, inputs: _Asked, outputs: _Asked) -> dict[str, int] | None:
    """What the rule of an operator says."""
    tensors = [tuple(Tensor(tuple(sizes), dtype, size) for sizes, dtype, size in given) for given in (inputs, outputs)]
    call = Call(op, *tensors)
    cost = (_rules.get(op) or _rules[op.removesuffix("_")])(call)
    if cost is None:
        return None
    if not isinstance(cost, Cost):
        raise Error(f"the rule of {op} gave {type(cost).__name__}, wanted symprof.Cost or None.")
    read = sum(tensor.bytes for tensor in call.inputs) if cost.bytes_read is None else cost.bytes_read
    written = sum(tensor.bytes for tensor in call.outputs) if cost.bytes_written is None else cost.bytes_written
    return dict(zip(_FIELDS, (cost.product_flops, cost.other_flops, read, written), strict=True))
