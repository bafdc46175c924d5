"""What a GPU does where a CPU does it otherwise: FLOPs of products by FlopCounterMode's formulas, and operators that keep,
or give, other tensors."""
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.flop_counter import conv_flop_count, flop_registry, sdpa_backward_flop_count, sdpa_flop_count

aten = torch.ops.aten


def convolution_backward(grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor, *others: Any, **kwargs: Any) -> int:
    """FlopCounterMode's formula for the weight's gradient leaves out groups; it has the FLOPs of the forward pass."""
    transposed, mask, groups = others[4], others[7], others[6]
    of_weight = conv_flop_count(list(x.shape), list(w.shape), list(grad.shape), transposed)
    if groups == 1:
        return flop_registry[aten.convolution_backward](grad, x, w, *others, **kwargs)
    of_input = conv_flop_count(list(grad.shape), list(w.shape), list(x.shape), not transposed)
    return mask[0] * of_input + mask[1] * of_weight


def attention_shapes(tensors: list[torch.Tensor], mask: torch.Tensor | None) -> tuple[list[torch.Size], bool]:
    """Of a GPU's kernels, and whether they are fused. Heads lie at multiples of 16 bytes there: the flash kernel's are padded,
    and where it does not run (float32, masks) products take its place (sdp_utils.cpp, attention.cpp)."""
    shapes = [tensor.shape for tensor in tensors]
    unit = 16 // tensors[0].element_size()
    if all(shape[-1] % unit == 0 for shape in shapes):
        return shapes, True
    if unit == 4 or mask is not None:
        return shapes, False
    return [torch.Size((*shape[:-1], -(-shape[-1] // unit) * unit)) for shape in shapes], True


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *others: Any, attn_mask: torch.Tensor | None = None,
              **kwargs: Any) -> int:
    return sdpa_flop_count(*attention_shapes([q, k, v], attn_mask)[0])


def attention_backward(grad: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *others: Any,
                       attn_mask: torch.Tensor | None = None, **kwargs: Any) -> int:
    shapes, is_fused = attention_shapes([grad, q, k, v], attn_mask)
    # A fused kernel computes the scores again.
    return sdpa_backward_flop_count(*shapes) if is_fused else 2 * sdpa_flop_count(*shapes[1:])


# symprof counts products with a vector, for which FlopCounterMode has no formula (docs/reference/json.md), as for the CPU's attention.
FORMULAS: dict[Any, Callable[..., int]] = {
    **flop_registry,
    aten.convolution_backward: convolution_backward,
    aten.mv: lambda matrix, vector, **kwargs: 2 * matrix.numel(),
    aten.addmv: lambda to, matrix, vector, **kwargs: 2 * matrix.numel(),
    aten.vdot: lambda one, other, **kwargs: 2 * one.numel(),
    aten._scaled_dot_product_flash_attention_for_cpu: attention,
    aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_backward,
}


def as_on_a_gpu(function: Any, args: Any, kwargs: Any) -> Any:
    """The CPU's log_sigmoid keeps exp(-|x|) for its backward; CUDA's gives an empty tensor in its place
    (ATen/native/cuda/ActivationLogSigmoidKernel.cu). A norm's result has the strides of its input on a GPU, not on a CPU."""
    if function == aten.native_batch_norm.default:
        out, *others = function(*args, **kwargs)
        return (torch.empty_like(args[0]).copy_(out), *others)
    if function == aten.log_sigmoid_forward.default:
        out, buffer = function(*args, **kwargs)
        return out, buffer.new_empty(0)
    if function == aten.log_sigmoid_backward.default:
        grad, x, _ = args
        return function(grad, x, (-x.abs()).exp())
    return function(*args, **kwargs)


def native_dropout(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    """The operator that CUDA takes (`is_fused_kernel_acceptable` in ATen/native/Dropout.cpp); the CPU has it as well."""
    if 0 < p < 1 and input.numel() > 0 and train:
        return torch.native_dropout(input, p, train)[0]
    return DROPOUT(input, p, train)


DROPOUT = torch._VF.dropout
