"""Nested tensors in a simulation. Those of jagged layout are a Python class around tensors, and run. Those of strided layout
are a class of C++ over a storage with values (ATen/NestedTensorImpl.h), which a tensor without storage does not have."""
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ._error import Error


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By module and name."""
    owner: Any = torch
    native: Any = getattr(torch._C, "_nested")  # noqa: B009 (in no stub)
    is_left_aligned = owner._nested_tensor_from_mask_left_aligned

    def is_simulated(args: Any, kwargs: Any) -> bool:
        device = kwargs.get("device")
        return (device is not None and torch.device(device).type == "cuda") or any(
            isinstance(leaf, torch.Tensor) and program.has_no_values(leaf) for leaf in tree_leaves((args, kwargs)))

    def strided(make: Callable[..., Any]) -> Callable[..., Any]:
        def refuse_or_make(*args: Any, **kwargs: Any) -> Any:
            if not is_simulated(args, kwargs):
                return make(*args, **kwargs)
            raise Error("nested tensor: found the strided layout on the device, which is not simulated.\n"
                        "  Make it with layout=torch.jagged, or pad the sequences.")

        return refuse_or_make

    def left_aligned(tensor: torch.Tensor, mask: torch.Tensor) -> bool:
        """In evaluation nn.TransformerEncoder packs the tokens that a padding mask keeps, if they are left-aligned. A packed
        batch is a strided nested tensor, so the answer for simulated tensors is no."""
        if not is_simulated((tensor, mask), {}):
            return bool(is_left_aligned(tensor, mask))
        program.warn("nn.TransformerEncoder: sequences are computed with their padding, where evaluation on a device packs them.")
        return False

    makers = ((owner, "_nested_tensor_from_tensor_list"), (owner, "_nested_tensor_from_mask"), (native, "nested_tensor"))
    return {(owner, "_nested_tensor_from_mask_left_aligned"): left_aligned,
            **{(module, name): strided(getattr(module, name)) for module, name in makers}}
