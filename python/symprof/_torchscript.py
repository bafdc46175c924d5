"""TorchScript in a simulated program."""
import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def operators_one_by_one() -> Iterator[None]:
    """While the context is open, TorchScript fuses nothing on a GPU: its fuser compiles for the driver, which is not there."""
    allowed = torch._C._jit_can_fuse_on_gpu()
    torch._C._jit_override_can_fuse_on_gpu(False)
    try:
        yield
    finally:
        torch._C._jit_override_can_fuse_on_gpu(allowed)
