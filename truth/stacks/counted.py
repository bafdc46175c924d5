"""FLOPs of products, by phase, as PyTorch's FlopCounterMode counts them.

PyTorch 2.13 has no formula for what the CPU runs in place of CUDA's kernels (flash attention for CPUs, grouped products),
and its formula for the weight gradient of a grouped convolution multiplies by the groups (torch/utils/flop_counter.py);
each wanted gradient costs what the forward does. It passes over products in place (addmm_), and products with a vector.
"""
import math
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass_type
from torch.utils.flop_counter import conv_flop_count, flop_registry

aten = torch.ops.aten


def attention(query: Any, key: Any, value: Any, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    batch, heads, length, width = query.shape
    return 2 * batch * heads * length * key.shape[2] * (width + value.shape[3])


def attention_backward(grad: Any, query: Any, key: Any, value: Any, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    """Scores again, and four products: sdpa_backward_flop_count."""
    batch, heads, length, width = query.shape
    return 2 * batch * heads * length * key.shape[2] * (3 * width + 2 * value.shape[3])


def grouped(a: Any, b: Any, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    """Rows are shared out among the groups; between two matrices it is the inner dimension."""
    count = a.shape[0] if a.dim() == 3 and b.dim() == 3 else 1
    return 2 * count * a.shape[-2] * a.shape[-1] * b.shape[-1]


def convolution_backward(grad: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                         out_padding: Any, groups: int, mask: Any, out_val: Any = None) -> int:
    return (mask[0] + mask[1]) * conv_flop_count(x.shape, weight.shape, grad.shape, transposed)


def with_a_vector(place: int) -> Callable[..., int]:
    return lambda *args, out_val=None, **kwargs: 2 * args[place].numel()


def product(a: Any, b: Any, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    return 2 * math.prod(a.shape) * b.shape[-1]


FORMULAS: dict[Any, Callable[..., int]] = {
    **flop_registry,
    aten._scaled_dot_product_flash_attention_for_cpu: attention,
    aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_backward,
    aten._scaled_dot_product_flash_attention: attention,
    aten._scaled_dot_product_flash_attention_backward: attention_backward,
    aten._scaled_dot_product_efficient_attention: attention,
    aten._scaled_dot_product_efficient_attention_backward: attention_backward,
    aten._grouped_mm: grouped,
    aten._int_mm: product,
    aten.addmm_: flop_registry[aten.addmm],
    aten.baddbmm_: flop_registry[aten.baddbmm],
    aten.addmv_: with_a_vector(1),
    aten.convolution_backward: convolution_backward,
    aten.mv: with_a_vector(0),
    aten.addmv: with_a_vector(1),
    aten.dot: with_a_vector(0),
}


class Counted(TorchDispatchMode):
    """Tells `add` of each product."""

    supports_higher_order_operators = True

    def __init__(self, add: Callable[[int], None]) -> None:
        super().__init__()
        self.add = add

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if any(is_traceable_wrapper_subclass_type(kind) for kind in types):
            return NotImplemented  # Its own operators come by again, of the tensors in it.
        if isinstance(func, torch._ops.HigherOrderOperator):
            return self.higher_order(func, args, kwargs)
        packet = func._overloadpacket
        if packet not in FORMULAS and func is not torch.ops.prim.device.default:
            with self:
                made = func.decompose(*args, **kwargs)
                if made is not NotImplemented:
                    return made
        out = func(*args, **kwargs)
        if packet in FORMULAS:
            self.add(FORMULAS[packet](*args, **kwargs, out_val=out))
        return out

    def higher_order(self, func: Any, args: Any, kwargs: Any) -> Any:
        if func is torch.ops.higher_order.cond:
            chosen, first, second, operands = args
            with self:
                return (first if chosen else second)(*operands)
        return func(*args, **kwargs)
