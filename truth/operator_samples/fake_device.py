"""The same calls on PyTorch's own fake CUDA tensors."""
import re

import torch
from torch._subclasses.fake_tensor import (DataDependentOutputException,
                                           DynamicOutputShapeException, FakeTensorMode)

from recorder import Call, NotCarried, contiguous_strides, extent

TENSOR = re.compile(
    r"(\w+)\[([\d,]*)(?:\|([\d,]*))?\](?:\+(\d+))?(?:#(\d+))?(?:!(\d+))?(@cpu)?$")


class Rebuilder:
    """Makes fake CUDA tensors from their descriptions; one storage for each number."""

    def __init__(self):
        self.storages = {}

    def tensor(self, match):
        dtype, sizes, strides, offset, storage, storage_bytes, host = match.groups()
        dtype = getattr(torch, dtype)
        sizes = [int(x) for x in sizes.split(",") if x]
        strides = ([int(x) for x in strides.split(",") if x] if strides is not None
                   else contiguous_strides(sizes))
        offset, width = int(offset or 0), torch.empty((), dtype=dtype, device="meta").element_size()
        wanted = int(storage_bytes) if storage_bytes else extent(sizes, strides, offset) * width
        base = self.storages.get(storage)
        if storage is None or base is None or base.dtype != dtype:
            base = torch.empty(-(-wanted // width), dtype=dtype, device="cpu" if host else "cuda")
            if storage is not None:
                self.storages[storage] = base
        return base.as_strided(sizes, strides, offset)

    def value(self, value, kind):
        if isinstance(value, list):
            if "Tensor" not in kind and kind in ("Scalar", "number", "Optional[number]"):
                return complex(*value)
            return [self.value(element, kind) for element in value]
        if not isinstance(value, str):
            return value
        match = TENSOR.match(value)
        if match:
            return self.tensor(match)
        if "Device" in kind:
            return torch.device("cuda", 0)
        if kind in ("float", "number", "Optional[float]", "Optional[number]"):
            return float(value)
        return value if "str" in kind else getattr(torch, value)


DTYPE_NAMES = {"dtype": "dtype", "layout": "layout", "memory_format": "memory_format",
               "device": "Device"}


def answer(record):
    """What FakeTensorMode says of a recorded call: a call, "unknown" where the output depends on
    data, None where it says nothing."""
    packet, _, overload = record["op"].removeprefix("aten::").partition(".")
    func = getattr(getattr(torch.ops.aten, packet), overload or "default")
    schema = func._schema.arguments
    with FakeTensorMode(), torch.no_grad():
        rebuilder = Rebuilder()
        args, kwargs = [], {}
        for value, argument in zip(record["args"], schema):
            kind = DTYPE_NAMES.get(argument.name, str(argument.type))
            value = rebuilder.value(value, kind)
            if argument.kwarg_only:
                kwargs[argument.name] = value
            else:
                args.append(value)
        call = Call(func)
        try:
            call.note_arguments(args, kwargs)
            call.note_outputs(func(*args, **kwargs))
            return call
        except (DynamicOutputShapeException, DataDependentOutputException):
            return "unknown"
        except NotCarried:
            return None
        except Exception:
            call.raised = True
            return call


def moved(value):
    """A sample's value with fake CUDA tensors for its CPU tensors. Under a FakeTensorMode."""
    if isinstance(value, torch.Tensor):
        copy = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cuda")
        return copy.requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(element) for element in value)
    if isinstance(value, dict):
        return {key: moved(element) for key, element in value.items()}
    return torch.device("cuda", 0) if value == "cpu" or value == torch.device("cpu") else value
