"""The results of a program that saves or prints tensors without storage. Its copies to the host are real
(meta/fake/host_copies.h), and a number that it reads is answered in C++ (shape/eager/stand_in.h)."""
import functools
from typing import Any

import torch

_load: Any = torch.load
_reduce: Any = torch.Tensor.__reduce_ex__
_text: Any = torch._tensor_str._str


def readers(program: Any) -> dict[tuple[Any, str], Any]:
    """By class and name."""

    is_saved = False

    def reduce(self: torch.Tensor, protocol: int) -> Any:
        """A checkpoint has the shapes of such tensors: PyTorch reads it back as a tensor on `meta`."""
        nonlocal is_saved
        if not program.has_no_values(self):
            return _reduce(self, protocol)
        is_saved = True
        program.warn("torch.save: what was saved of the device's tensors are their shapes; they have no values.")
        return torch._utils._rebuild_meta_tensor_no_storage, (self.dtype, tuple(self.shape), self.stride(), self.requires_grad)

    @functools.wraps(_load)
    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        found = _load(f, map_location, *args, **kwargs)
        if not is_saved:
            return found
        return _moved(found, torch.device(map_location if isinstance(map_location, (str, torch.device)) else "cuda"))

    def text(self: torch.Tensor, *, tensor_contents: str | None = None) -> str:
        """PyTorch's text of a tensor on `meta`: its description, without values."""
        if not program.has_no_values(self):
            return str(_text(self, tensor_contents=tensor_contents))
        parts = [tensor_contents or "...", f"device='{self.device}'", f"size={tuple(self.shape)}", f"dtype={self.dtype}"]
        if self.grad_fn is not None:
            parts.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
        elif self.requires_grad:
            parts.append("requires_grad=True")
        return f"tensor({', '.join(parts)})"

    return {
        (torch, "load"): load,
        (torch.Tensor, "__reduce_ex__"): reduce,
        (torch._tensor_str, "_str"): text,
    }


def _moved(found: Any, device: torch.device) -> Any:
    """With tensors on the device for those on `meta`. Dictionaries and lists stay the same objects: that of a model's states
    has attributes."""
    if isinstance(found, torch.Tensor) and found.is_meta:
        return torch.empty_strided(found.shape, found.stride(), dtype=found.dtype, device=device, requires_grad=found.requires_grad)
    if isinstance(found, tuple) and type(found) is tuple:
        return tuple(_moved(entry, device) for entry in found)
    entries = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, entry in list(entries):
        found[key] = _moved(entry, device)
    return found
