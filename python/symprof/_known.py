"""Values of tensors without storage, if they follow from the program's values."""
import torch

from . import _native


def known_values(tensor: torch.Tensor) -> torch.Tensor | None:
    """On the host; None where they are not known."""
    values = torch.empty(0, device="cpu")  # A program may have another default.
    return values if _native.read_known_values(tensor, values) else None
