"""The results of a program that saves or prints tensors without storage. Its copies to the host are real
(meta/fake/host_copies.h), and a number that it reads is answered in C++ (shape/eager/stand_in.h)."""
from typing import Any

import torch

_reduce: Any = torch.Tensor.__reduce_ex__
_text: Any = torch._tensor_str._str


def readers(program: Any) -> dict[tuple[Any, str], Any]:
    """By class and name."""

    def reduce(self: torch.Tensor, protocol: int) -> Any:
        """A checkpoint has the shapes of such tensors: it is read back as a tensor on `meta`."""
        if not program.has_no_values(self):
            return _reduce(self, protocol)
        program.warn("torch.save: what was saved of the device's tensors are their shapes; they have no values.")
        return torch._utils._rebuild_meta_tensor_no_storage, (self.dtype, tuple(self.shape), self.stride(), self.requires_grad)

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
        (torch.Tensor, "__reduce_ex__"): reduce,
        (torch._tensor_str, "_str"): text,
    }
