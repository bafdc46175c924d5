"""What a program gets that asks for the values of tensors without storage.

`.item()` is answered in C++ (shape/eager/stand_in.h). Here are the ways around it: arrays, lists, and texts.
"""
from typing import Any

import torch

_to_numpy = torch.Tensor.numpy
_to_list = torch.Tensor.tolist
_as_array = torch.Tensor.__array__
_reduce = torch.Tensor.__reduce_ex__
_text = torch._tensor_str._str


def readers(program: Any) -> dict[tuple[Any, str], Any]:
    """By class and name. Every number of such a tensor is the one that stands for `.item()`."""

    def real(tensor: torch.Tensor) -> torch.Tensor:
        number = program.stand_in(tensor)
        if number is None:
            return tensor
        return torch.full(tensor.shape, number, dtype=tensor.dtype, device="cpu")

    def numpy(self: torch.Tensor, *, force: bool = False) -> Any:
        if self.is_cuda and not force:
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
                            "memory first.")
        return _to_numpy(real(self), force=force)

    def tolist(self: torch.Tensor) -> Any:
        return _to_list(real(self))

    def array(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return _as_array(real(self), *args, **kwargs)

    def reduce(self: torch.Tensor, protocol: int) -> Any:
        """A checkpoint has the shapes of such tensors: it is read back as a tensor on `meta`."""
        if not program.has_no_values(self):
            return _reduce(self, protocol)
        if not said:
            said.append(True)
            program.warn("torch.save: what was saved of the device's tensors are their shapes; they have no values.")
        return torch._utils._rebuild_meta_tensor_no_storage, (self.dtype, tuple(self.shape), self.stride(), self.requires_grad)

    said: list[bool] = []

    def text(self: torch.Tensor, *, tensor_contents: str | None = None) -> str:
        """As PyTorch writes a tensor on `meta`: what it is, without values."""
        if not program.has_no_values(self):
            return _text(self, tensor_contents=tensor_contents)
        parts = [tensor_contents or "...", f"device='{self.device}'", f"size={tuple(self.shape)}", f"dtype={self.dtype}"]
        if self.grad_fn is not None:
            parts.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
        elif self.requires_grad:
            parts.append("requires_grad=True")
        return f"tensor({', '.join(parts)})"

    return {
        (torch.Tensor, "numpy"): numpy,
        (torch.Tensor, "tolist"): tolist,
        (torch.Tensor, "__array__"): array,
        (torch.Tensor, "__reduce_ex__"): reduce,
        (torch._tensor_str, "_str"): text,
    }
