"""The simulated device's choice of attention kernels, for PyTorch's Python: jagged tensors choose theirs there
(torch/nested/_internal/sdpa.py), and programs may. The rules are those of
aten/src/ATen/native/transformers/cuda/sdp_utils.cpp; a CPU build answers no.
"""
from typing import Any

import torch

_HALVES = (torch.float16, torch.bfloat16)


def _widths(params: Any) -> tuple[int, int, int]:
    return params.query.shape[-1], params.key.shape[-1], params.value.shape[-1]


def _is_on_device(params: Any) -> bool:
    tensors = (params.query, params.key, params.value)
    return all(tensor.is_cuda and tensor.dim() == 4 for tensor in tensors)


def _is_square(params: Any) -> bool:
    """Whether the mask is not causal, or both lengths are equal: for two lengths a causal mask's alignment is not defined."""
    return not params.is_causal or params.query.is_nested or params.query.shape[2] == params.key.shape[2]


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By module and name."""
    device = program.device()
    generation = device.compute_major
    switches: Any = torch.backends.cuda

    def can_use_flash(params: Any, debug: bool = False) -> bool:
        query, key, value = _widths(params)
        dtypes = _HALVES if generation >= 8 else ()
        return (switches.flash_sdp_enabled() and _is_on_device(params) and params.attn_mask is None
                and query == key == value <= 256 and params.query.dtype in dtypes and _is_square(params))

    def can_use_efficient(params: Any, debug: bool = False) -> bool:
        query, key, value = _widths(params)
        dtype = params.query.dtype
        dtypes = (torch.float32, *_HALVES) if generation >= 8 else (torch.float32, torch.float16)
        alignment = 8 if dtype in _HALVES and generation >= 7 else 4 if generation >= 8 else 1
        return (switches.mem_efficient_sdp_enabled() and _is_on_device(params) and dtype in dtypes
                and query == key and query % alignment == 0 and value % alignment == 0 and min(query, value) > 0)

    def can_use_cudnn(params: Any, debug: bool = False) -> bool:
        query, key, value = _widths(params)
        return (switches.cudnn_sdp_enabled() and _is_on_device(params) and not params.query.is_nested
                and generation >= 8 and params.query.dtype in _HALVES and query == key
                and max(query, value) <= 128 and query % 8 == 0 and value % 8 == 0)

    native = torch._C
    return {(native, "_can_use_flash_attention"): can_use_flash, (native, "_can_use_mem_efficient_attention"): can_use_efficient,
            (native, "_can_use_cudnn_attention"): can_use_cudnn}
