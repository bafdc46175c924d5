"""Higher-order operators (torch.cond, flex_attention, a custom autograd function under vmap) in a simulation, and PyTorch's
Python choices for nested tensors.

Python's dispatcher finds their kernels by keys of its own enumeration, which lacks the key of tensors without storage. Their
kernels are registered at the keys of autograd and of the backend; the operators that these call reach that key in C++.
"""
from typing import Any

import torch

from . import _attention, _block_masks, _captures, _flex_attention, _native, _nested


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By module and name."""
    fake: Any = torch._C.DispatchKeySet.from_raw_repr(_native.fake_key_set())
    extract: Any = torch._ops.key_extractor

    def key_extractor(tensors: Any, key_mask: Any) -> Any:
        return extract(tensors, key_mask) - fake

    def is_fake_tensor(tensor: Any) -> bool:
        """PyTorch 2.14 tells its own fake tensors of C++ by that key (c10/core/TensorImpl.h: is_fake), which no simulation makes."""
        return False

    return {(torch._ops, "key_extractor"): key_extractor, (torch._C, "_is_fake_tensor"): is_fake_tensor, **_captures.answers(), **_flex_attention.answers(program),
            **_block_masks.answers(program), **_attention.answers(program), **_nested.answers(program)}
