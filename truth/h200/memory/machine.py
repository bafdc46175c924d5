"""What the record says of the machine, and what its driver says is used."""
import importlib.metadata
import platform

import torch

from .allocator_trace import DEVICE


def device_driver():
    """NVML's handle of the device, or None where there is no NVML."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
    except Exception:  # no driver, no package: then nothing is known, and said so by null
        return None


def driver_used_bytes():
    """What is used on the device before this process has a context."""
    found = device_driver() if DEVICE["alone"] else None
    return found and int(found[0].nvmlDeviceGetMemoryInfo(found[1]).used)


def package_versions():
    versions = {"python": platform.python_version()}
    for name in ("torch", "torchvision", "timm", "transformers", "triton", "nvidia-cudnn-cu13",
                 "nvidia-cublas", "nvidia-cuda-runtime"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def machine(device):
    cuda = device.type == "cuda"
    found = device_driver() if cuda else None
    properties = torch.cuda.get_device_properties(0) if cuda else None
    return {
        "versions": package_versions(),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version() if cuda else None,
        "driver": str(found[0].nvmlSystemGetDriverVersion()) if found else None,
        "device": properties.name if cuda else None,
        "device_total_bytes": properties.total_memory if cuda else None,
        "multiprocessors": properties.multi_processor_count if cuda else None,
        "capability": [properties.major, properties.minor] if cuda else None,
    }


def first_line(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300]
