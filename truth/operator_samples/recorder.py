"""Writes down every ATen call below autograd: arguments, outputs, which tensors share memory."""
import json
import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class NotCarried(Exception):
    """An argument or output that a fake tensor cannot stand for (sparse, quantized, nested)."""


def extent(sizes, strides, offset):
    """Elements that a tensor reaches into its storage."""
    if 0 in sizes:
        return 0
    return offset + 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))


def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]


class Call:
    """One call. Tensors are kept as descriptions until all of them are known, because only then is
    it known which storages are shared."""

    def __init__(self, func):
        self.func = func
        self.name = func._schema.name + ("." + func._schema.overload_name).rstrip(".")
        self.storages = {}  # identity -> number
        self.uses = []  # of each number
        self.keep = []  # a storage freed during the call could give its address to another
        self.arguments, self.outputs = [], []
        self.raised = False

    def describe(self, tensor):
        if type(tensor).__name__ not in ("Tensor", "Parameter", "FakeTensor", "Buffer"):
            raise NotCarried(type(tensor).__name__)
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested:
            raise NotCarried(str(tensor.layout))
        if tensor.is_conj() or tensor.is_neg():
            raise NotCarried("a lazy conjugate")
        storage = tensor.untyped_storage()
        self.keep.append(storage)
        number = self.storages.setdefault(storage._cdata, len(self.storages))
        self.uses.extend([0] * (number + 1 - len(self.uses)))
        self.uses[number] += 1
        sizes, strides, offset = list(tensor.shape), list(tensor.stride()), tensor.storage_offset()
        dtype = str(tensor.dtype).removeprefix("torch.")
        on_host = type(tensor).__name__ == "FakeTensor" and tensor.device.type == "cpu"
        return Description(dtype, sizes, strides, offset, number, storage.nbytes(),
                           tensor.element_size(), on_host)

    def value(self, value):
        if isinstance(value, torch.Tensor):
            return self.describe(value)
        if isinstance(value, (list, tuple)):
            return [self.value(element) for element in value]
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if isinstance(value, complex):
            return [value.real, value.imag]
        if isinstance(value, torch.device):
            return "cuda"  # what lies on the CPU here lies on the GPU there
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return str(value).removeprefix("torch.")
        if isinstance(value, torch.Generator):
            return None
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise NotCarried(type(value).__name__)

    def note_arguments(self, args, kwargs):
        """In schema order, without the defaults at the end."""
        schema = self.func._schema.arguments
        values = list(args) + [kwargs.get(a.name, a.default_value) for a in schema[len(args):]]
        while len(values) > 0:
            last = schema[len(values) - 1]
            if not last.has_default_value() or isinstance(values[-1], torch.Tensor):
                break
            if values[-1] != last.default_value:
                break
            values.pop()
        self.arguments = [self.value(value) for value in values]

    def note_outputs(self, result):
        results = result if isinstance(result, tuple) else (result,)
        self.outputs = [] if result is None else [self.value(value) for value in results]

    def line(self):
        """The call as one line of JSON, which names a storage only where two tensors share it."""
        record = {"op": self.name, "args": self.render(self.arguments)}
        if self.raised:
            record["raises"] = True
        else:
            record["outs"] = self.render(self.outputs)
        return json.dumps(record, separators=(",", ":"))

    def render(self, value):
        if isinstance(value, Description):
            return value.render(self.uses[value.storage] > 1)
        return [self.render(element) for element in value] if isinstance(value, list) else value


class Description:
    """float32[2,3|1,2]+4#0!48@cpu: dtype, sizes, strides unless contiguous, offset, the storage's
    number if it is shared, its bytes unless they just hold the tensor, cpu for host memory."""

    def __init__(self, dtype, sizes, strides, offset, storage, storage_bytes, width, on_host):
        self.dtype, self.sizes, self.strides, self.offset = dtype, sizes, strides, offset
        self.storage, self.storage_bytes, self.width = storage, storage_bytes, width
        self.on_host = on_host

    def render(self, shared):
        def join(numbers):
            return ",".join(map(str, numbers))

        text = f"{self.dtype}[{join(self.sizes)}"
        if self.strides != contiguous_strides(self.sizes):
            text += f"|{join(self.strides)}"
        text += "]"
        if self.offset:
            text += f"+{self.offset}"
        if shared:
            text += f"#{self.storage}"
        if self.storage_bytes != extent(self.sizes, self.strides, self.offset) * self.width:
            text += f"!{self.storage_bytes}"
        return text + ("@cpu" if self.on_host else "")


class Recorder(TorchDispatchMode):
    """Hands each call that a fake tensor can carry to `take(call)`."""

    def __init__(self, take):
        super().__init__()
        self.take = take
        self.skipped = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        call = Call(func)
        try:
            call.note_arguments(args, kwargs)
        except NotCarried:
            call = None
        try:
            result = func(*args, **kwargs)
        except NotImplementedError:  # says nothing but that the CPU has no kernel
            raise
        except Exception:
            if call is not None and func.namespace == "aten":
                call.raised = True
                self.take(call)
            raise
        try:
            if call is not None and func.namespace == "aten":
                call.note_outputs(result)
                self.take(call)
        except NotCarried:
            self.skipped.add(call.name)
        return result
