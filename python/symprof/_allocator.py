"""Settings of PyTorch's CUDA allocator and of cuBLAS's workspaces, which the environment and the program give.

PyTorch reads them when a process first uses the device (c10/core/AllocatorConfig.cpp, ATen/cuda/CublasHandlePool.cpp), and so are
they read here: before the simulated device gives its first block.
"""
import itertools
import os
import re
from typing import Any

import torch

from ._cuda import refused
from ._error import Error

# The second is PyTorch's name before 2.9, which is used if the first is unset.
_VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


def workspace_bytes(text: str) -> int | None:
    """The bytes of CUBLAS_WORKSPACE_CONFIG, ":4096:8" for 8 buffers of 4,096 KiB; None if unset."""
    pairs = re.findall(r":([0-9]+):([0-9]+)", text)
    return sum(int(size) * 1024 * int(count) for size, count in pairs) if pairs else None


class Allocator:
    """The settings in force: those of `given` (the option, or simulate's argument) first, then the program's, then the
    environment's."""

    def __init__(self, program: Any, given: str) -> None:
        self.program = program
        self.given = given
        self.of_environment = ""
        self.of_program: list[str] = []
        self.fraction = 1.0
        self.is_used = False
        self._blocks: dict[int, torch.Tensor] = {}
        self._addresses = itertools.count(1 << 48, 1 << 20)  # No address of a process on x86-64 or Arm.
        program.before_first_block(self.use)

    def use(self) -> None:
        """The device is about to give its first block."""
        self.is_used = True
        name = next((name for name in _VARIABLES if os.environ.get(name)), _VARIABLES[0])
        self.of_environment = os.environ.get(name, "")
        self._obey(name)
        size = workspace_bytes(os.environ.get(_WORKSPACE, ""))
        if size is not None:
            self.program.set_cublas_workspace(size)
        if os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING"):
            self.program.warn("PYTORCH_NO_CUDA_MEMORY_CACHING: is not simulated; reserved bytes are those of the caching allocator.")

    def set(self, settings: str) -> None:
        """The program changes them (torch._C._accelerator_setAllocatorSettings)."""
        self.of_program.append(settings)
        self._obey("the allocator's settings")

    def set_fraction(self, fraction: float, *device: Any) -> None:
        """Of the device's memory, which the process may hold (torch.cuda.set_per_process_memory_fraction)."""
        self.fraction = fraction
        self.program.limit_memory(int(fraction * self.program.device().memory_bytes))
        if not self.is_used and fraction > 0:
            self.set(f"per_process_memory_fraction:{fraction!r}")

    def _obey(self, source: str) -> None:
        settings = ",".join(filter(None, [self.of_environment, *self.of_program, self.given]))
        try:
            self.program.set_allocator(settings)
        except Error as error:
            reason = str(error).splitlines()[0]
            self.program.warn(f"{source}: {reason} PyTorch's defaults hold instead.")
            self.program.set_allocator(self.given)

    def allocate(self, size: int, *stream: Any) -> int:
        """Memory for another library (torch.cuda.caching_allocator_alloc): an address that nothing may read."""
        address = next(self._addresses)
        self._blocks[address] = torch.empty(size, dtype=torch.uint8, device="cuda")
        return address

    def delete(self, address: int) -> None:
        self._blocks.pop(address, None)

    def enable(self, value: bool = True) -> None:
        if not value:
            self.program.warn("caching_allocator_enable(False): is not simulated; memory is that of the caching allocator.")

    def answers(self) -> dict[tuple[Any, str], Any]:
        native = torch._C
        workspace = self.program.cublas_workspace
        resize = self.program.set_cublas_workspace
        another = refused("another allocator (CUDAPluggableAllocator)", "Leave it out: memory is that of PyTorch's own allocator.")
        return {
            (native, "_accelerator_setAllocatorSettings"): self.set,
            (native, "_cuda_cudaCachingAllocator_set_allocator_settings"): self.set,
            (native, "_cuda_setMemoryFraction"): self.set_fraction,
            (native, "_cuda_getMemoryFraction"): lambda *device: self.fraction,
            (native, "_cuda_getCublasWorkspaceSize"): lambda: workspace(),
            (native, "_cuda_setCublasWorkspaceSize"): lambda size: resize(size),
            (native, "_cuda_getCublasLtWorkspaceSize"): lambda: workspace(),
            (native, "_cuda_setCublasLtWorkspaceSize"): lambda size: None,  # It is part of cuBLAS's workspace (docs of cublaslt_workspace_size).
            (native, "_cuda_cudaCachingAllocator_raw_alloc"): self.allocate,
            (native, "_cuda_cudaCachingAllocator_raw_delete"): self.delete,
            (native, "_cuda_cudaCachingAllocator_enable"): self.enable,
            (native, "_cuda_cudaCachingAllocator_is_enabled"): lambda: True,
            (native, "_cuda_customAllocator"): another,
            (native, "_cuda_changeCurrentAllocator"): another,
            (native, "_cuda_getAllocator"): another,
        }
