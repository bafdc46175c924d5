"""What is compared of a program: figures of its last step."""
from collections import Counter
from dataclasses import dataclass, field

import torch


@dataclass
class Figures:
    forward: int = 0  # FLOPs of products outside of autograd's engine.
    backward: int = 0  # FLOPs of products that the engine runs, those of recomputation included.
    # Bytes of distinct storages saved for backward, the most that is held at once, without parameters and buffers.
    saved: int = 0
    states: int = 0  # Bytes of optimizers' states on the device.
    calls: Counter[str] = field(default_factory=Counter)  # By operator.
    results: list[tuple[tuple[int, ...], str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    # Forward and backward FLOPs of the last step of each other kind: where other optimizers updated.
    others: list[tuple[int, int]] = field(default_factory=list)


def restore_switches() -> None:
    """Those that programs set."""
    torch.backends.cudnn.enabled = True
    for enable in (torch.backends.cuda.enable_flash_sdp, torch.backends.cuda.enable_mem_efficient_sdp,
                   torch.backends.cuda.enable_cudnn_sdp):
        enable(True)


class Marks:
    """What a program says of itself. Here it is about results alone."""

    def __init__(self) -> None:
        self.results: list[tuple[tuple[int, ...], str]] = []

    def begin(self) -> None: ...

    def end(self) -> None: ...

    def result(self, tensor: torch.Tensor) -> None:
        self.results.append((tuple(tensor.shape), str(tensor.dtype)))
