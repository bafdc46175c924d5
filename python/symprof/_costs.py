"""Costs of operators that symprof does not know: custom operators, Triton kernels."""
import functools
import importlib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native
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
    """A call, for a cost rule. `arguments` are its tensors and integers by name, those of the operator's schema or of the
    Triton kernel's parameters; other arguments are left out."""

    op: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def input(self, index: int) -> Tensor:
        return self.inputs[index]

    def output(self, index: int) -> Tensor:
        return self.outputs[index]


@dataclass(frozen=True)
class Cost:
    """The cost of one call; a multiply-add is 2 FLOPs. Default bytes are those of all inputs, and of all outputs."""

    product_flops: int = 0  # Matrix products, convolutions, attention.
    other_flops: int = 0
    bytes_read: int | None = None
    bytes_written: int | None = None


Rule = Callable[[Call], Cost | None]
_rules: dict[str, Rule] = {}
compiled_kernels: dict[str, Rule] = {}  # Kernels that torch.compile generated (python/symprof/_compiled/).


def cost_rule(op: str) -> Callable[[Rule], Rule]:
    """Registers the costs of an operator's calls, for every later profile. It overrides symprof's own rule.

        @symprof.cost_rule("acme::pool_pairs")
        def pool_pairs(call):
            return symprof.Cost(other_flops=2 * call.output(0).numel())

    The operator's name is that of torch.library; a Triton kernel's is "triton::" and its function's. A call for which the
    rule returns None is unmodelled."""
    if "::" not in op:
        raise Error(f"cost_rule: found {op!r}, wanted an operator's whole name.\n  torch.library has it: \"acme::pool_pairs\".")

    def register(rule: Rule) -> Rule:
        _rules[op] = rule
        return rule

    return register


@functools.cache
def _known() -> dict[str, Rule]:
    """Kernels of packages without a rule in torch (python/symprof/_known_kernels.py)."""
    rules: dict[str, Rule] = importlib.import_module("._known_kernels", __package__).RULES
    return rules


def _counted_by_torch() -> dict[str, Any]:
    """Formulas of torch.utils.flop_counter.register_flop_formula for operators that C++ has no rule for."""
    counter = sys.modules.get("torch.utils.flop_counter")
    registry = counter.flop_registry.items() if counter is not None else ()
    names = {str(target).replace(".", "::", 1): formula for target, formula in registry if hasattr(target, "overloads")}
    return {op: formula for op, formula in names.items() if not _native.knows_costs(op)}


def operators() -> list[str]:
    """The operators that have a rule."""
    return list({**_rules, **_known(), **compiled_kernels, **_counted_by_torch()})


def has_rule(op: str) -> bool:
    return op in _rules or op in _known()


_Asked = Sequence[tuple[Sequence[int], str, int]]


def ask(op: str, inputs: _Asked, outputs: _Asked, positions: Sequence[int],
        integers: Sequence[tuple[int, int]]) -> dict[str, int] | None:
    """The cost by the operator's rule: the program's own, symprof's, or that of torch's FLOP counter."""
    from ._arguments import by_name

    read, written = (tuple(Tensor(tuple(sizes), dtype, size) for sizes, dtype, size in given) for given in (inputs, outputs))
    call = Call(op, read, written, by_name(op, read, positions, integers))
    cost = _cost_of(call)
    if cost is None:
        return None
    if not isinstance(cost, Cost):
        raise Error(f"the rule of {op} gave {type(cost).__name__}, wanted symprof.Cost or None.")
    bytes_read = sum(tensor.bytes for tensor in read) if cost.bytes_read is None else cost.bytes_read
    bytes_written = sum(tensor.bytes for tensor in written) if cost.bytes_written is None else cost.bytes_written
    return dict(zip(_FIELDS, (cost.product_flops, cost.other_flops, bytes_read, bytes_written), strict=True))


def _cost_of(call: Call) -> Cost | None:
    for name in (call.op, call.op.removesuffix("_")):
        for rules in (_rules, _known(), compiled_kernels):
            if name in rules:
                return rules[name](call)
    formula = _counted_by_torch().get(call.op)
    return None if formula is None else _counted(formula, call)


def _counted(formula: Any, call: Call) -> Cost | None:
    """Counts on `meta` tensors: a formula may read more than sizes. Other values than sizes and integers are not recorded."""
    import torch

    from ._arguments import in_order

    def meta(value: Any) -> Any:
        if isinstance(value, tuple):
            return [meta(each) for each in value]
        return torch.empty(value.sizes, dtype=getattr(torch, value.dtype), device="meta") if isinstance(value, Tensor) else value

    results = [meta(output) for output in call.outputs]
    try:
        flops = formula(*map(meta, in_order(call.op, call.arguments)), out_val=results[0] if len(results) == 1 else tuple(results))
    except Exception:  # A foreign formula that needs data which is not available.
        return None
    return Cost(product_flops=int(flops))
