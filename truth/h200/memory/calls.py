"""The ATen calls of a step in order, and which attention kernels it asked for."""
import collections
import json
import math

import torch
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

SHORT = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16",
         torch.int64: "i64", torch.int32: "i32", torch.uint8: "u8", torch.bool: "bool"}


def described(value):
    """A value as text: f32[8,3](strides, unless row-major), @cpu for scalars of the CPU on a GPU."""
    if isinstance(value, torch.Tensor):
        text = SHORT.get(value.dtype, str(value.dtype)) + str(list(value.shape)).replace(" ", "")
        if not value.is_contiguous():
            text += str(value.stride()).replace(" ", "")
        return text + ("@cpu" if value.device.type == "cpu" and torch.cuda.is_initialized() else "")
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    if isinstance(value, (torch.UntypedStorage, torch.TypedStorage)):  # whose text is all of its bytes
        return f"storage[{value.nbytes()}]"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value if not isinstance(value, float) or math.isfinite(value) else str(value)
    return str(value)


class Calls(TorchDispatchMode):
    """ATen calls below autograd in order: a table of distinct ones and its row for each call.

    On CUDA also what each call took for a while beyond what was there, and what it left.
    """

    def __init__(self, cuda):
        super().__init__()
        self.cuda = cuda
        self.rows, self.table, self.order = {}, [], []
        self.transient_bytes, self.kept_bytes = [], []
        self.marks = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if str(func).startswith("prim."):
            return func(*args, **kwargs)
        given = [described(x) for x in args]
        if kwargs:
            given.append({key: described(value) for key, value in kwargs.items()})
        before = self.allocated(True)
        result = func(*args, **kwargs)
        after = self.allocated(False)
        if self.cuda:
            self.transient_bytes.append(after["peak"] - before["current"])
            self.kept_bytes.append(after["current"] - before["current"])
        row = [str(func), given, described(result)]
        self.order.append(self.row_of(row))
        return result

    def allocated(self, reset):
        if not self.cuda:
            return None
        if reset:
            torch.cuda.reset_peak_memory_stats()
        return torch.cuda.memory.memory_stats_as_nested_dict()["allocated_bytes"]["all"]

    def row_of(self, row):
        key = json.dumps(row)
        if key not in self.rows:
            self.rows[key] = len(self.table)
            self.table.append(row)
        return self.rows[key]

    def mark(self, name):
        self.marks[name] = len(self.order)

    def result(self):
        sizes = (self.transient_bytes, self.kept_bytes) if self.cuda else (None, None)
        return {"table": self.table, "order": self.order, "ends": self.marks,
                "transient_bytes": sizes[0], "kept_bytes": sizes[1]}


BACKENDS = {-1: "error", 0: "math", 1: "flash", 2: "efficient", 3: "cudnn", 4: "overrideable"}
ATTENTION_ARGUMENTS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")


class Attention:
    """Every call of scaled_dot_product_attention with the backend that PyTorch chooses for it.

    It stands in the function's place: a TorchFunctionMode does not see what functions that can be
    overridden themselves, such as multi_head_attention_forward, call.
    """

    def __init__(self):
        self.calls = collections.Counter()
        self.original = functional.scaled_dot_product_attention

    def __enter__(self):
        functional.scaled_dot_product_attention = self.attend
        return self

    def __exit__(self, *_):
        functional.scaled_dot_product_attention = self.original

    def attend(self, *args, **kwargs):
        given = {**dict(zip(ATTENTION_ARGUMENTS, args)), **kwargs}
        with _disable_current_modes():
            seen = self.cast(given)
            backend = int(torch._fused_sdp_choice(**seen))
        row = {key: described(value) for key, value in seen.items()}
        row["requires_grad"] = torch.is_grad_enabled() and given["query"].requires_grad
        self.calls[json.dumps({**row, "backend": BACKENDS[backend]}, sort_keys=True)] += 1
        return self.original(*args, **kwargs)

    @staticmethod
    def cast(given):
        """As the call sees them: autocast changes them before the backend is chosen."""
        kind = given["query"].device.type
        if not torch.is_autocast_enabled(kind):
            return given
        dtype = torch.get_autocast_dtype(kind)

        def low(x):
            is_float = isinstance(x, torch.Tensor) and x.is_floating_point()
            return x.detach().to(dtype).requires_grad_(x.requires_grad) if is_float else x

        return {key: low(value) for key, value in given.items()}

    def result(self):
        return [{**json.loads(call), "count": count} for call, count in self.calls.items()]
