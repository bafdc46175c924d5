"""What torch.cuda.get_device_properties answers for a simulated device."""
import types
from typing import Any

# CUDA C++ Programming Guide, technical specifications by compute capability: the same from 7.0 on.
_LIMITS = {"warp_size": 32, "max_threads_per_block": 1024, "regs_per_multiprocessor": 65536, "shared_memory_per_block": 48 * 1024}
_PLACE = {"is_integrated": 0, "is_multi_gpu_board": 0, "gcnArchName": "", "uuid": "00000000-0000-0000-0000-000000000000",
          "pci_bus_id": 0, "pci_device_id": 0, "pci_domain_id": 0}
_BY_DEVICE = {"L2_cache_size", "clock_rate", "shared_memory_per_block_optin", "shared_memory_per_multiprocessor", "memory_clock_rate",
              "memory_bus_width"}


class DeviceProperties(types.SimpleNamespace):
    """The attributes of torch._C._CudaDeviceProperties. What the device's file does not say is an error."""

    def __getattr__(self, name: str) -> Any:
        if name in _BY_DEVICE:
            raise AttributeError(f"{name}: the file of {self.name} does not say it (docs/reference/device_files.md).")
        raise AttributeError(f"'_CudaDeviceProperties' object has no attribute '{name}'")


def of(device: Any) -> DeviceProperties:
    """`device`: symprof._native.DeviceSpec."""
    shared = device.shared_memory_bytes
    known = {
        "L2_cache_size": device.l2_bytes,
        "clock_rate": device.clock_hz and round(device.clock_hz / 1000),
        "shared_memory_per_block_optin": shared,
        # From 8.0 on, CUDA itself takes 1 KiB for each block (same guide).
        "shared_memory_per_multiprocessor": shared and shared + (1024 if device.compute_major >= 8 else 0),
    }
    return DeviceProperties(
        name=device.description or device.name,
        major=device.compute_major,
        minor=device.compute_minor,
        total_memory=device.memory_bytes,
        multi_processor_count=device.multiprocessors,
        max_threads_per_multi_processor=device.threads_of_multiprocessor,
        **_LIMITS,
        **_PLACE,
        **{name: value for name, value in known.items() if value},
    )
