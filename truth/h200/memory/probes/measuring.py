"""What a single call takes: rows of a probe."""
import itertools

import torch

from kernels.memory import measured as measured_call

from ..allocator_trace import device_used_bytes
from ..machine import first_line


def used_and_reserved(device):
    if device.type != "cuda":
        return {"device_used_bytes": None, "reserved_bytes": None, "allocated_bytes": None}
    torch.cuda.synchronize()
    return {"device_used_bytes": device_used_bytes(), "reserved_bytes": torch.cuda.memory_reserved(),
            "allocated_bytes": torch.cuda.memory_allocated()}


def forward_and_backward(function, *tensors):
    result = function(*tensors)
    result = result[0] if isinstance(result, tuple) else result
    result.float().sum().backward()


def measured(device, function, warm=True):
    """What one call takes, after one like it unless the first is asked for: sizes asked for in order, transient and kept bytes.

    Everything the function returns is alive when the kept bytes are read.
    """
    if warm:
        function()  # loads kernels and makes the cuBLAS workspaces
    if device.type != "cuda":
        function()
    return measured_call(function, device.type)


def measured_rows(device, named, warm=True):
    """One row per (settings, maker of the call); a call that cannot run says why."""
    rows = []
    for settings, make in named:
        try:
            rows.append({**settings, **measured(device, make(), warm)})
        except RuntimeError as error:
            rows.append({**settings, "error": first_line(error)})
            if device.type == "cuda":
                torch.cuda.empty_cache()
    return rows


def grid(**axes):
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values))
