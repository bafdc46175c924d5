"""Element-wise calls of one, two and three operands, broadcasts, casts, and activations' backward."""
import itertools

from kernels.families.common import BYTES, backward_of, operand, torch_dtype

COUNTS = (1 << 10, 1 << 14, 1 << 17, 1 << 20, 1000003, 1 << 22, 1 << 24, 1 << 27)
ONE = ("relu", "exp", "sigmoid", "neg", "gelu", "silu", "sqrt", "tanh")
TWO = ("add", "mul", "div")
THREE = ("addcmul", "where", "lerp")
BACKWARD = ("gelu", "silu", "sigmoid")
# operand sizes of an addition that broadcasts: bias, per-row scale, channel, mask over heads
BROADCASTS = [((16384, 4096), (4096,)), ((16384, 4096), (16384, 1)), ((32, 256, 56, 56), (256, 1, 1)),
              ((8, 16, 1024, 1024), (8, 1, 1024, 1024)), ((4096, 4096), ()), ((64, 197, 768), (768,))]
CASTS = [("float32", "bfloat16"), ("bfloat16", "float32"), ("float16", "float32"),
         ("int64", "float32"), ("bool", "float32")]


def point(operation, count, dtype, operands, **more):
    moved = count * BYTES[dtype] * (operands + 1)
    return operation, {"count": count, "dtype": dtype, **more}, 0, moved


def points(small):
    counts = (64, 65) if small else COUNTS
    for operation, dtype, count in itertools.product(ONE, ("float32", "bfloat16", "float16"), counts):
        yield point(operation, count, dtype, 1)
    for operation, dtype, count in itertools.product(TWO, ("float32", "bfloat16"), counts):
        yield point(operation, count, dtype, 2)
    for operation, dtype, count in itertools.product(THREE, ("float32", "bfloat16"), counts):
        yield point(operation, count, dtype, 3)
    for operation, count in itertools.product(BACKWARD, counts):
        yield point(f"{operation}_backward", count, "bfloat16", 2)
    for (source, target), count in itertools.product(CASTS, counts[1::2]):
        yield point("to", count, source, 1, target=target)
    broadcasts = [((4, 6), (6,))] if small else BROADCASTS
    for (sizes, other), dtype in itertools.product(broadcasts, ("float32", "bfloat16")):
        count = 1
        for size in sizes:
            count *= size
        yield point("broadcast_add", count, dtype, 1, sizes=list(sizes), other=list(other))


def function_of(operation):
    import torch
    return getattr(torch, operation, None) or getattr(torch.nn.functional, operation)


def unary(operation):
    def build(parameters, device):
        x = operand((parameters["count"],), parameters["dtype"], device).abs_()
        function = function_of(operation)
        return lambda: function(x)
    return build


def binary(operation):
    def build(parameters, device):
        a, b = (operand((parameters["count"],), parameters["dtype"], device) for _ in range(2))
        function = function_of(operation)
        return lambda: function(a, b)
    return build


def ternary(operation):
    def build(parameters, device):
        a, b, c = (operand((parameters["count"],), parameters["dtype"], device) for _ in range(3))
        function = function_of(operation)
        first = a > 0 if operation == "where" else a
        return lambda: function(first, b, c)
    return build


def unary_backward(operation):
    def build(parameters, device):
        x = operand((parameters["count"],), parameters["dtype"], device, requires_grad=True)
        return backward_of(function_of(operation)(x), [x])
    return build


def cast(parameters, device):
    x = operand((parameters["count"],), "float32", device).to(torch_dtype(parameters["dtype"]))
    target = torch_dtype(parameters["target"])
    return lambda: x.to(target)


def broadcast_add(parameters, device):
    a = operand(parameters["sizes"], parameters["dtype"], device)
    b = operand(parameters["other"], parameters["dtype"], device)
    return lambda: a + b


OPERATIONS = {**{name: unary(name) for name in ONE}, **{name: binary(name) for name in TWO},
              **{name: ternary(name) for name in THREE},
              **{f"{name}_backward": unary_backward(name) for name in BACKWARD},
              "to": cast, "broadcast_add": broadcast_add}
