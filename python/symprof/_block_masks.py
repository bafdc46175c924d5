"""FlexAttention's block masks in a simulation: their kept blocks of scores are computed. A mask function is evaluated on
parts of the mask that are small enough for their values to be followed (meta/fake/known_values.h). If it reads tensors with
unknown values, the blocks stay unknown. Under torch.compile create_block_mask is fused: the whole mask is never in memory;
what torch._dynamo traces is PyTorch's own code.
"""
import math
import weakref
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.attention.flex_attention

from . import _native
from ._compile import is_compiled
from ._known import known_values

_PART = 1 << 20  # Elements whose values are followed.
_MOST = 1 << 31  # Elements of a mask that is evaluated: some seconds.


class _Mask:
    """The arguments of torch.nn.attention.flex_attention.create_mask."""

    def __init__(self, function: Callable[..., Any], sizes: tuple[int, int, int, int], device: torch.device) -> None:
        self.function, self.sizes, self.device = function, sizes, device

    def sums(self, blocks: tuple[int, int]) -> torch.Tensor | None:
        """How many elements each block keeps, [batch, heads, blocks of queries, blocks of keys], on the host."""
        batch, heads, queries, keys = self.sizes
        rows = _PART // (batch * heads * keys)
        if math.prod(self.sizes) > _MOST or rows == 0:
            return None
        sums = torch.zeros((batch, heads, -(-queries // blocks[0]), -(-keys // blocks[1])), dtype=torch.int64)
        with _native.Unrecorded():
            for block in range(sums.shape[2]):
                end = min((block + 1) * blocks[0], queries)
                for first in range(block * blocks[0], end, rows):
                    part = self.part(first, min(first + rows, end))
                    if part is None:
                        return None
                    padded = torch.nn.functional.pad(part.sum(2), (0, sums.shape[3] * blocks[1] - keys))
                    sums[:, :, block] += padded.view(batch, heads, -1, blocks[1]).sum(3)
        return sums

    def part(self, first: int, end: int) -> torch.Tensor | None:
        rows = [torch.arange(0, size, device=self.device) for size in self.sizes]
        rows[2] = torch.arange(first, end, device=self.device)
        return known_values(self.function(*rows))


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By module and name."""
    face: Any = torch.nn.attention.flex_attention
    create, convert = face.create_mask, face._convert_mask_to_block_mask
    made: list[tuple[weakref.ref[torch.Tensor], _Mask]] = []  # The last result of create_mask.

    def batched(function: Callable[..., Any]) -> Callable[..., Any]:
        from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

        mapped = face._vmap_for_bhqkv(function, prefix=())

        def run(*indices: Any) -> Any:
            with TransformGetItemToIndex():
                return mapped(*indices)

        return run

    def create_mask(mod_fn: Any, B: Any, H: Any, Q_LEN: int, KV_LEN: int, device: Any = None) -> Any:
        if torch.compiler.is_compiling():
            return create(mod_fn, B, H, Q_LEN, KV_LEN, device)
        place = torch.device(device or "cuda")
        if place.type != "cuda" or face._get_mod_type(mod_fn) is not face._ModificationType.MASK_MOD:
            return create(mod_fn, B, H, Q_LEN, KV_LEN, device)
        sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
        if is_compiled():
            mask = torch.empty((1, 1, 1, 1), dtype=torch.bool, device=place).expand(sizes)
        else:
            mask = create(mod_fn, B, H, Q_LEN, KV_LEN, device)
        made[:] = [(weakref.ref(mask), _Mask(batched(mod_fn), sizes, place))]
        return mask

    def convert_mask_to_block_mask(mask: torch.Tensor, Q_BLOCK_SIZE: int = 128, KV_BLOCK_SIZE: int = 128,
                                   separate_full_blocks: bool = False) -> Any:
        if torch.compiler.is_compiling():
            return convert(mask, Q_BLOCK_SIZE, KV_BLOCK_SIZE, separate_full_blocks)
        source = made.pop()[1] if made and made[-1][0]() is mask else None
        blocks = (Q_BLOCK_SIZE, KV_BLOCK_SIZE)
        if source is not None and is_compiled():
            sizes = (*source.sizes[:2], -(-source.sizes[2] // blocks[0]), -(-source.sizes[3] // blocks[1]))
            parts = [torch.empty(sizes, dtype=torch.int8, device=mask.device) for _ in range(2 if separate_full_blocks else 1)]
        else:
            parts = [part for part in convert(mask, *blocks, separate_full_blocks) if part is not None]
        if source is not None and any(known_values(part) is None for part in parts):
            _give_blocks(parts, source.sums(blocks), math.prod(blocks))
        return parts[0], parts[1] if separate_full_blocks else None

    return {(face, "create_mask"): create_mask, (face, "_convert_mask_to_block_mask"): convert_mask_to_block_mask}


def _give_blocks(parts: list[torch.Tensor], sums: torch.Tensor | None, whole: int) -> None:
    """Splits partial blocks from full ones, as torch/nn/attention/flex_attention.py does."""
    if sums is None:
        return
    kept = sums > 0
    values = [kept & (sums < whole), sums == whole] if len(parts) == 2 else [kept]
    for part, value in zip(parts, values, strict=True):
        _native.give_values(part, value.to(torch.int8))
