"""FlexAttention under torch.compile: one kernel forward, one backward, as in torch/_inductor/kernel/flex/flex_attention.py.
Eagerly, PyTorch runs it with all scores in memory, and so does the simulation.

The kernel is an operator, symprof::flex_attention. Its FLOPs are those of the blocks of scores that the block mask keeps, if
the mask's values are known (_block_masks.py).
"""
import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.attention.flex_attention

from . import _native
from ._captures import captured_by
from ._compile import is_compiled
from ._known import known_values

UNKNOWN_MASK = "flex_attention: the block mask's values are not known; all of its blocks are counted."
_Tensors = Sequence[torch.Tensor]
_SCHEMAS = (
    "flex_attention(Tensor query, Tensor key, Tensor value, Tensor[] mask, Tensor[] captured, int scores, bool is_bound)"
    " -> (Tensor, Tensor, Tensor)",
    "flex_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, "
    "Tensor? grad_logsumexp, Tensor[] mask, Tensor[] captured, bool[] needs_gradient, int scores, bool is_bound)"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor[])",
)


def _dense_like(like: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """A dense tensor with the dimension order of `like` (torch/_inductor/kernel/flex/common.py: infer_dense_strides)."""
    strides, step = [0] * len(sizes), 1
    for dim in sorted(range(len(sizes)), key=lambda dim: like.stride(dim)):
        strides[dim] = step
        step *= sizes[dim]
    return torch.empty_strided(sizes, strides, dtype=like.dtype, device=like.device)


def _forward(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: _Tensors, captured: _Tensors, scores: int,
             is_bound: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if is_bound:
        _native.mark_upper_bound()
    out = _dense_like(query, (*query.shape[:3], value.shape[3]))
    logsumexp = torch.empty(query.shape[:3], dtype=torch.float32, device=query.device)
    return out, logsumexp, torch.empty_like(logsumexp)


def _backward(grad_out: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, out: torch.Tensor,
              logsumexp: torch.Tensor, grad_logsumexp: torch.Tensor | None, mask: _Tensors, captured: _Tensors,
              needs_gradient: Sequence[bool], scores: int, is_bound: bool) -> tuple[Any, ...]:
    """The kernels sum over the heads that share a key; `delta` is the softmax's term of each row."""
    if is_bound:
        _native.mark_upper_bound()
    delta = torch.empty(query.shape[:3], dtype=torch.float32, device=query.device)
    batch = query.shape[0]
    keys, values = (_dense_like(tensor, (batch, *tensor.shape[1:])) for tensor in (key, value))
    gradients = [torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device) if needs else torch.empty(0, device="meta")
                 for tensor, needs in zip(captured, needs_gradient, strict=True)]
    return _dense_like(query, query.shape), keys, values, delta, gradients


class _Attention(torch.autograd.Function):
    """Saves the tensors that PyTorch saves (torch/_higher_order_ops/flex_attention.py: FlexAttentionAutogradOp) except for
    the largest scores, which no kernel reads."""

    @staticmethod
    def forward(ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scores: int, is_bound: bool,
                mask_count: int, *others: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        ctx.set_materialize_grads(False)
        mask, captured = others[:mask_count], others[mask_count:]
        with torch._C._AutoDispatchBelowAutograd():
            out, logsumexp, most = torch.ops.symprof.flex_attention(query, key, value, mask, captured, scores, is_bound)
        ctx.mark_non_differentiable(most)
        ctx.save_for_backward(query, key, value, out, logsumexp, *others)
        ctx.numbers, ctx.mask_count = (scores, is_bound), mask_count
        return out, logsumexp, most

    @staticmethod
    def backward(ctx: Any, grad_out: torch.Tensor | None, grad_logsumexp: torch.Tensor | None, _: Any) -> Any:
        query, key, value, out, logsumexp, *others = ctx.saved_tensors
        mask, captured = others[:ctx.mask_count], others[ctx.mask_count:]
        needs = ctx.needs_input_grad[-len(captured):] if captured else ()
        grad_out = torch.zeros_like(out) if grad_out is None else grad_out
        grad_query, grad_key, grad_value, _, grads = torch.ops.symprof.flex_attention_backward(
            grad_out, query, key, value, out, logsumexp, grad_logsumexp, mask, captured, needs, *ctx.numbers)
        if key.shape[0] != query.shape[0]:
            grad_key, grad_value = grad_key.sum(0, keepdim=True), grad_value.sum(0, keepdim=True)
        of_captured = [grad if needed else None for grad, needed in zip(grads, needs, strict=True)]
        return grad_query, grad_key, grad_value, None, None, None, *(None for _ in mask), *of_captured


def _with_gradients(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: _Tensors, captured: _Tensors,
                    scores: int, is_bound: bool) -> Any:
    attend: Any = _Attention.apply
    return attend(query, key, value, scores, is_bound, len(mask), *mask, *captured)


@functools.cache
def _operator() -> Any:
    library: Any = torch.library.Library
    kept = library("symprof", "FRAGMENT")
    for schema, kernel in zip(_SCHEMAS, (_forward, _backward), strict=True):
        name = kept.define(schema)
        kept.impl(name, kernel, "Meta")
    kept.impl("flex_attention", _with_gradients, "Autograd")
    _operator.library = kept  # type: ignore[attr-defined]  # It takes its operators with it.
    return torch.ops.symprof.flex_attention.default


def _captured(function: Callable[..., Any], score: torch.Tensor | None, device: torch.device) -> list[torch.Tensor]:
    """The captured tensors of a score_mod, or without `score` of a mask_mod."""

    def arguments() -> list[torch.Tensor]:
        scores = [] if score is None else [torch.zeros((), dtype=score.dtype, device=device)]
        return [*scores, *(torch.zeros((), dtype=torch.int32, device=device) for _ in range(4))]

    return captured_by(function, arguments)


def kept_scores(sizes: tuple[int, int, int, int], mask: tuple[Any, ...]) -> tuple[int, bool]:
    """How many scores are in the blocks that the mask keeps, and whether that is an upper bound. `sizes` are batch, heads, queries
    and keys."""
    batch, heads, queries, keys = sizes
    counts, full_counts, block = mask[2], mask[4], (min(mask[-3], queries), min(mask[-2], keys))
    given = [tensor for tensor in (counts, full_counts) if tensor is not None]
    known = [values for tensor in given if (values := known_values(tensor)) is not None]
    if counts is None or len(known) < len(given):
        blocks = -(-queries // block[0]) * -(-keys // block[1])
        return batch * heads * blocks * block[0] * block[1], True
    kept = sum(int(values.sum()) for values in known)
    repeats = batch * heads // (counts.shape[0] * counts.shape[1])
    return kept * repeats * block[0] * block[1], False


def _cast(tensors: _Tensors) -> list[torch.Tensor]:
    """As under FlexAttention's key of autocast."""
    if not torch.is_autocast_enabled("cuda"):
        return list(tensors)
    dtype = torch.get_autocast_dtype("cuda")
    return [tensor.to(dtype) if tensor.is_floating_point() and tensor.dtype != torch.float64 else tensor for tensor in tensors]


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By class or module and name."""
    face: Any = torch.nn.attention.flex_attention
    operator_class: Any = type(face.flex_attention_hop)
    call, warn_once = operator_class.__call__, face._warn_once
    was_compiled = False

    def fused(query: Any, key: Any, value: Any, score_mod: Any, block_mask: Any, *others: Any) -> Any:
        query, key, value = _cast((query, key, value))
        scores, is_bound = kept_scores((*query.shape[:3], key.shape[2]), block_mask)
        if is_bound:
            program.warn(UNKNOWN_MASK)
        captured = [] if score_mod is face._identity else _captured(score_mod, query, query.device)
        masked = [] if block_mask[-1] is face.noop_mask else _captured(block_mask[-1], None, query.device)
        mask = [part for part in block_mask[2:-3] if isinstance(part, torch.Tensor)]
        return _operator()(query, key, value, [*mask, *masked], captured, scores, is_bound)

    def attention(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        """A checkpoint runs it again outside of the compiled function, in backward."""
        nonlocal was_compiled
        is_again = was_compiled and torch._C._current_graph_task_id() != -1
        if program.has_no_values(query) and (is_again or is_compiled()):
            was_compiled = True
            return fused(query, *args, **kwargs)
        return call(self, query, *args, **kwargs)

    def warn(warning_id: str, *args: Any, **kwargs: Any) -> None:
        if warning_id != "flex_attention_performance" or not is_compiled():
            warn_once(warning_id, *args, **kwargs)

    return {(operator_class, "__call__"): attention, (face, "_warn_once"): warn}
