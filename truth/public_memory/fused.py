"""How a model of transformers is given the Triton kernels of fms-acceleration, and the losses of its rows."""
import sys
from typing import Any

import torch
from torch import nn

from kernels import FourBitLinear, LigerCrossEntropy, TritonCrossEntropy, TritonRMSNorm


def _modules_of(model: Any) -> set[Any]:
    """The Python modules in which the parts of a model are defined."""
    return {sys.modules[type(part).__module__] for part in model.modules()}


def use_triton_norms(model: Any) -> None:
    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = lambda x, module=module: TritonRMSNorm.apply(x, module.weight)


class _Rotary(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> Any:
        ctx.save_for_backward(cos, sin)
        # Q and K are turned in place: Unsloth's kernel takes copies that are contiguous.
        return q.contiguous(), k.contiguous()

    @staticmethod
    def backward(ctx: Any, dq: torch.Tensor, dk: torch.Tensor) -> Any:
        return dq, dk, None, None


def use_triton_rotary(model: Any) -> None:
    def rotate(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return _Rotary.apply(q, k, cos, sin)

    for module in _modules_of(model):
        if hasattr(module, "apply_rotary_pos_emb"):
            module.apply_rotary_pos_emb = rotate


class _FusedLoRA(torch.autograd.Function):
    """Unsloth's product: the input is saved once, in its own dtype; what the adapter computes is added in place."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, layer: FourBitLinear, scaling: float,
                dropped: torch.Tensor) -> torch.Tensor:
        out = nn.functional.linear(x, layer.unpacked().to(x.dtype))
        out += (dropped @ a.t().to(x.dtype)) @ (scaling * b.t().to(x.dtype))
        ctx.save_for_backward(a, b, dropped)
        ctx.layer = layer
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        a, b, x = ctx.saved_tensors
        flat, rows = grad.reshape(-1, grad.shape[-1]), x.reshape(-1, x.shape[-1])
        grad_a = (rows.t() @ (flat @ b.to(flat.dtype))).t().to(a.dtype)
        grad_b = ((a.to(rows.dtype) @ rows.t()) @ flat).t().to(b.dtype)
        grad_x = flat @ ctx.layer.unpacked().to(flat.dtype)
        grad_x += (flat @ b.to(flat.dtype)) @ a.to(flat.dtype)
        return grad_x.view(x.shape), grad_a, grad_b, None, None, None


def use_fused_lora(model: Any, kind: Any) -> None:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        dtype = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else x.dtype
        states = x.to(dtype)
        with torch.no_grad():
            dropped = self.dropout(states)
        with torch.autocast("cuda", enabled=False):
            return _FusedLoRA.apply(states, self.lora_A.weight, self.lora_B.weight, self.base_layer, self.scaling, dropped)

    for module in model.modules():
        if isinstance(module, kind):
            module.forward = forward.__get__(module)


def _mean_loss(logits: torch.Tensor, labels: torch.Tensor, count: Any = None) -> torch.Tensor:
    losses = TritonCrossEntropy.apply(logits, labels)
    return losses.sum() / (torch.count_nonzero(labels != -100) if count is None else count)  # type: ignore[no-any-return]


class _CrossEntropy(nn.CrossEntropyLoss):
    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return _mean_loss(input, target)


def use_triton_loss(model: Any) -> None:
    """The one call of cross entropy in transformers: in the model's file up to 4.45, then in loss_utils."""
    for module in _modules_of(model):
        if hasattr(module, "CrossEntropyLoss"):
            module.CrossEntropyLoss = _CrossEntropy
    try:
        from transformers.loss import loss_utils
    except ImportError:
        return
    loss_utils.fixed_cross_entropy = lambda source, target, num_items_in_batch=None, *args, **kwargs: _mean_loss(
        source, target, num_items_in_batch)


def use_liger_loss(model: Any) -> None:
    """The head is no call of its own, and there are no logits."""
    causal = model.get_base_model() if hasattr(model, "get_base_model") else model

    def forward(input_ids: Any = None, attention_mask: Any = None, labels: Any = None, **kwargs: Any) -> dict[str, torch.Tensor]:
        states = causal.model(input_ids=input_ids, attention_mask=attention_mask)[0]
        shifted = states[..., :-1, :].contiguous().view(-1, states.shape[-1])
        targets = labels[..., 1:].contiguous().view(-1)
        return {"loss": LigerCrossEntropy.apply(shifted, causal.lm_head.weight, targets)}

    causal.forward = forward
