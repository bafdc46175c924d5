#!/usr/bin/env python3
"""Which ATen calls the recorded operators and single calls make, by PyTorch's own dispatcher: operator_calls.json.gz.

    python truth/h200/record_calls.py        # torch 2.13 of the CPU, a C++ compiler; no GPU

Each point of the sweeps (kernels/points.py) and each call of truth/measured/single_calls.py runs once on tensors of
FakeTensorMode that lie on cuda, where ../fake_cuda.cpp answers as an H200. What the operator itself calls below autograd is
written: its tensors' dtypes, sizes and strides, and its integers, as a Recording has them (record/recording.h). The rules of
profile/cost/time/ then say which kernels these calls launch (scripts/time/operator_kernels.cpp)."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "measured")]

import fake_cuda  # noqa: E402
import single_calls  # noqa: E402
from kernels import operators, points, storage  # noqa: E402

CALLS = HERE / "operator_calls.json.gz"
BACKENDS = {"math": 0, "flash": 1, "efficient": 2, "cudnn": 3}  # at::SDPBackend
AS_ON_DEVICE = -1
FAMILIES = ("matmul", "attention", "convolution", "elementwise", "movement", "normalization", "reduction", "loss", "indexing")


def recorder():
    """A dispatch mode that keeps calls, each once, with tables of operators and of tensors."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Recorder(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.ops, self.specs, self.kept = {}, {}, {}
            self.made = None

        def index(self, table, key):
            return table.setdefault(key, len(table))

        def spec(self, tensor):
            return self.index(self.specs, (str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape),
                                           tuple(tensor.stride()), tensor.storage_offset(), tensor.device.type != "cpu"))

        def number(self, value):
            """Where a tensor may be, PyTorch wraps a number."""
            dtype = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float64"
            return self.index(self.specs, (dtype, (), (), 0, False))

        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            result = function(*arguments, **(keywords or {}))
            if self.made is not None and not function._schema.name.startswith("prim::"):
                self.made.append(self.index(self.kept, self.record(function, arguments, keywords or {}, result)))
            return result

        def record(self, function, arguments, keywords, result):
            schema, inputs, integers = function._schema, [], []
            for place, argument in enumerate(schema.arguments):
                value = arguments[place] if place < len(arguments) else keywords.get(argument.name, argument.default_value)
                self.add(place, argument, value, inputs, integers)
            results = result if isinstance(result, (tuple, list)) else (result,)
            outputs = tuple(self.spec(one) if isinstance(one, torch.Tensor) else -1 for one in results)
            tf32 = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
            return self.index(self.ops, schema.name), tuple(inputs), tuple(integers), outputs, tf32

        def add(self, place, argument, value, inputs, integers):
            takes_tensor = str(argument.type) == "Tensor"
            for one in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(one, torch.Tensor):
                    inputs.append((place, self.spec(one)))
                elif takes_tensor and isinstance(one, (int, float)):
                    inputs.append((place, self.number(one)))
                elif isinstance(one, (bool, int)):
                    integers.append((place, int(one)))
                elif isinstance(one, str):
                    integers.append((place, int(one != argument.default_value)))

    return Recorder()


def calls_of(made, call):
    made.made = []
    call()
    found, made.made = made.made, None
    return found


def of_points(made, force_attention, refused):
    """{family/operation/parameters: calls}, whatever lies in the cache."""
    found = {}
    for sweep in points.SWEEPS.values():
        for point in sweep():
            name = points.key(point).rsplit("/", 2)[0]
            if point.family not in FAMILIES or name in found or name in refused:
                continue
            backend = point.operation.rsplit("_", 1)[0] if point.family == "attention" else ""
            force_attention(BACKENDS.get(backend, AS_ON_DEVICE))
            try:
                found[name] = calls_of(made, operators.prepare(point, "cuda"))
            except Exception as error:
                refused[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    return found


def of_single_calls(made, force_attention):
    import torch
    force_attention(AS_ON_DEVICE)
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = False, True
    found = {}
    for name, call in single_calls.calls().items():
        module = single_calls.module_of(call, "cuda")
        results = []
        found[f"single/{name}/forward"] = calls_of(made, lambda: results.append(module(None)))
        gradient = torch.ones_like(results[0])
        parameters = list(module.parameters())
        found[f"single/{name}/backward"] = calls_of(made, lambda: torch.autograd.grad(results[0], parameters, gradient))
    return found


def main():
    force_attention, refused = fake_cuda.load(), {}  # before torch
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    made = recorder()
    with FakeTensorMode(), made:
        found = {**of_points(made, force_attention, refused), **of_single_calls(made, force_attention)}
    for name, reason in refused.items():
        print(f"refused: {name}: {reason}", file=sys.stderr)
    storage.write_document(CALLS, {"torch": torch.__version__, "ops": list(made.ops), "specs": list(made.specs),
                                   "calls": list(made.kept), "points": found})
    print(f"{len(found)} points, {len(made.kept)} different calls, {len(refused)} refused")


if __name__ == "__main__":
    main()
