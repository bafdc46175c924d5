"""Stand-ins for kernels of packages that need a GPU to be built: what they hold and what they take, as their source has it."""
import importlib.machinery
import math
import sys
import types
from typing import Any

import torch
from torch import nn

_forward: Any = torch.ops.aten._flash_attention_forward
_backward: Any = torch.ops.aten._flash_attention_backward


def _flash(q: Any, k: Any, v: Any, *args: Any, dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False,
           **others: Any) -> torch.Tensor:
    """flash_attn_func: [batch, tokens, heads, width]. PyTorch's own flash attention is the same kernel."""
    scale = softmax_scale or 1 / math.sqrt(q.shape[-1])
    return _Flash.apply(q, k, v, None, None, q.shape[1], k.shape[1], dropout_p, causal, scale)  # type: ignore[no-any-return]


def _flash_varlen(q: Any, k: Any, v: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: int, max_seqlen_k: int,
                  *args: Any, dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False,
                  **others: Any) -> torch.Tensor:
    scale = softmax_scale or 1 / math.sqrt(q.shape[-1])
    return _Flash.apply(q, k, v, cu_seqlens_q, cu_seqlens_k, int(max_seqlen_q), int(max_seqlen_k),  # type: ignore[no-any-return]
                        dropout_p, causal, scale)


class _Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Any, k: Any, v: Any, cu_q: Any, cu_k: Any, max_q: int, max_k: int, dropout: float, causal: bool,
                scale: float) -> torch.Tensor:
        out, lse, seed, offset, _ = _forward(q, k, v, cu_q, cu_k, max_q, max_k, dropout, causal, False, scale=scale)
        ctx.save_for_backward(q, k, v, out, lse, seed, offset)
        ctx.rest = (cu_q, cu_k, max_q, max_k, dropout, causal, scale)
        return out  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        q, k, v, out, lse, seed, offset = ctx.saved_tensors
        cu_q, cu_k, max_q, max_k, dropout, causal, scale = ctx.rest
        gradients = _backward(grad, q, k, v, out, lse, cu_q, cu_k, max_q, max_k, dropout, causal, seed, offset, scale=scale)
        return (*gradients, None, None, None, None, None, None, None)


def _unpad_input(states: torch.Tensor, mask: torch.Tensor, *args: Any) -> Any:
    lengths = mask.sum(dim=-1, dtype=torch.int32)
    indices = torch.nonzero(mask.flatten(), as_tuple=False).flatten()
    cu = nn.functional.pad(torch.cumsum(lengths, dim=0, dtype=torch.int32), (1, 0))
    return states.reshape(-1, *states.shape[2:])[indices], indices, cu, int(lengths.max()), lengths


def _pad_input(states: torch.Tensor, indices: torch.Tensor, batch: int, length: int) -> torch.Tensor:
    padded = torch.zeros(batch * length, *states.shape[1:], device=states.device, dtype=states.dtype)
    padded[indices] = states
    return padded.view(batch, length, *states.shape[1:])


def _index_first_axis(states: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    return states[indices]


def install_flash_attention(version: str = "2.7.3") -> None:
    """`import flash_attn` finds this, and transformers believes that it is installed."""
    def module(name: str, **members: Any) -> types.ModuleType:
        made = types.ModuleType(name)
        made.__spec__ = importlib.machinery.ModuleSpec(name, None)
        made.__dict__.update(members)
        sys.modules[name] = made
        return made

    padding = module("flash_attn.bert_padding", unpad_input=_unpad_input, pad_input=_pad_input, index_first_axis=_index_first_axis)
    package = module("flash_attn", flash_attn_func=_flash, flash_attn_varlen_func=_flash_varlen, bert_padding=padding,
                     __version__=version)
    package.__path__ = []
    import transformers.utils
    import transformers.utils.import_utils

    for place in (transformers.utils, transformers.utils.import_utils):
        place.is_flash_attn_2_available = lambda: True
        place.is_flash_attn_greater_or_equal = lambda *args: True
        place.is_flash_attn_greater_or_equal_2_10 = lambda: True


class TritonCrossEntropy(torch.autograd.Function):
    """Unsloth's: the gradient is written over the logits."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        losses = torch.empty(logits.shape[0], dtype=torch.float32, device=logits.device)
        logsumexp = torch.empty(logits.shape[0], dtype=torch.float32, device=logits.device)
        ctx.save_for_backward(logits, logsumexp, labels)
        return losses

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return ctx.saved_tensors[0], None


class TritonRMSNorm(torch.autograd.Function):
    """Unsloth's: it saves its input and a number for each row; the gradient is written over the incoming one."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        flat = x.reshape(-1, x.shape[-1])
        out = torch.empty_like(flat)
        inverse = torch.empty(flat.shape[0], dtype=torch.float32, device=x.device)
        ctx.save_for_backward(flat, weight, inverse)
        return out.view(x.shape)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        weight = ctx.saved_tensors[1]
        return grad.contiguous(), torch.zeros_like(weight) if ctx.needs_input_grad[1] else None


class TritonRotary(torch.autograd.Function):
    """Unsloth's: queries and keys are turned in place, forward and backward."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(cos, sin)
        ctx.mark_dirty(q) if q.is_leaf else None
        return q.clone() if q.is_leaf else q.view_as(q)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad, None, None


class LigerCrossEntropy(torch.autograd.Function):
    """Liger's fused linear cross entropy: logits of a part of the rows at a time, gradients made with them."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        rows, width = states.shape
        parts = -(-weight.shape[0] // width)
        size = 1 << (-(-rows // parts) - 1).bit_length()
        grad_weight = torch.zeros_like(weight) if weight.requires_grad else None
        grad_states = torch.zeros_like(states)
        losses = torch.zeros(rows, dtype=torch.float32, device=states.device)
        dtype = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else states.dtype
        for start in range(0, rows, size):
            part = states[start:start + size]
            logits = (part @ weight.t()).float()
            logits = logits.to(dtype)
            scaled = logits * 0.5
            grad_states[start:start + size] = scaled @ weight
            if grad_weight is not None:
                torch.addmm(grad_weight, logits.t(), part, out=grad_weight)
        ctx.save_for_backward(grad_states, grad_weight)
        return losses.sum()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return (*ctx.saved_tensors, None)


class FourBitLinear(nn.Module):
    """A frozen layer of which each product unpacks the weights: bitsandbytes' nf4 and GPTQ's kernels.

    Releases of bitsandbytes of 2024 keep the layer's input for backward, which does not read it (autograd/_functions.py:
    `ctx.tensors = (A, B)`). Weights are unpacked to the type that they were packed from, and cast.
    """

    def __init__(self, of: nn.Linear, kind: str, dtype: torch.dtype, nested: bool = True, keeps_input: bool = False,
                 packed_from: torch.dtype | None = None) -> None:
        super().__init__()
        self.nested, self.keeps_input, self.packed_from = nested, keeps_input, packed_from or dtype
        self.in_features, self.out_features, self.kind, self.compute_dtype = of.in_features, of.out_features, kind, dtype
        count = of.in_features * of.out_features

        def constant(size: Any, kind_of: torch.dtype) -> nn.Parameter:
            return nn.Parameter(torch.empty(size, dtype=kind_of, device="meta"), requires_grad=False)

        if kind == "nf4":  # Blocks of 64; with double quantization their scales are bytes, in blocks of 256.
            self.weight = constant((count // 2, 1), torch.uint8)
            self.absmax = constant(count // 64, torch.uint8 if nested else torch.float32)
            self.code = constant(16, torch.float32)
            if nested:
                self.nested_absmax, self.nested_code = constant(-(-count // 64 // 256), torch.float32), constant(256, torch.float32)
                self.offset = constant((), torch.float32)
        else:  # Groups of 128.
            groups = of.in_features // 128
            self.qweight = constant((of.in_features // 8, of.out_features), torch.int32)
            self.scales = constant((groups, of.out_features), torch.float16)
            self.qzeros = constant((groups, of.out_features // 8), torch.int32)
            self.g_idx = constant(of.in_features, torch.int32)
        self.bias = constant(of.out_features, of.weight.dtype) if of.bias is not None else None

    def unpacked(self) -> torch.Tensor:
        device = next(self.parameters()).device
        if self.kind == "nf4" and self.nested:
            absmax = torch.empty(self.in_features * self.out_features // 64, dtype=torch.float32, device=device)
            del absmax
        return torch.empty(self.out_features, self.in_features, dtype=self.packed_from, device=device)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        dtype = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else self.compute_dtype
        return _FourBit.apply(x.to(dtype), self).to(x.dtype)  # type: ignore[no-any-return]


class _FourBit(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, layer: FourBitLinear) -> torch.Tensor:
        ctx.layer, ctx.input = layer, x if layer.keeps_input else None
        return nn.functional.linear(x, layer.unpacked().to(x.dtype))

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return torch.matmul(grad, ctx.layer.unpacked().to(grad.dtype)), None
