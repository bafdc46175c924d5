"""Layer, RMS, group and batch norm, softmax and log_softmax: forward and backward."""
import itertools

from kernels.families.common import BYTES, backward_of, numel, operand

ROWS = [(1, 768), (128, 768), (4096, 768), (16384, 768), (32768, 1024), (4096, 4096),
        (16384, 4096), (65536, 4096), (4096, 8192), (1000, 1001), (65536, 64), (8192, 12288)]
IMAGES = [(32, 64, 112, 112), (32, 256, 56, 56), (32, 512, 28, 28), (32, 1024, 14, 14),
          (32, 2048, 7, 7), (2, 320, 64, 64), (1, 64, 56, 56), (256, 64, 56, 56)]
SCORES = [(96, 512, 512), (384, 197, 197), (32, 2048, 2048), (4, 4096, 4096), (128, 1000),
          (4096, 32000), (2048, 50257), (16, 1, 1024), (65536, 32), (1, 16384), (3, 77, 333)]
SMALL_ROWS, SMALL_IMAGES, SMALL_SCORES = [(4, 16)], [(2, 32, 4, 4)], [(3, 7, 9)]
DIRECTIONS = ("forward", "backward")
FORMATS = ("contiguous_format", "channels_last")


def point(operation, sizes, dtype, direction, **more):
    parameters = {"sizes": list(sizes), "dtype": dtype, **more}
    moved = numel(sizes) * BYTES[dtype] * (2 if direction == "forward" else 3)
    return f"{operation}_{direction}", parameters, 0, moved


def points(small):
    rows, images, scores = ((SMALL_ROWS, SMALL_IMAGES, SMALL_SCORES) if small else
                            (ROWS, IMAGES, SCORES))
    for operation, sizes, dtype, direction in itertools.product(
            ("layer_norm", "rms_norm"), rows, ("float32", "bfloat16"), DIRECTIONS):
        yield point(operation, sizes, dtype, direction)
    for operation, sizes, dtype, layout, direction in itertools.product(
            ("group_norm", "batch_norm"), images, ("float32", "bfloat16"), FORMATS, DIRECTIONS):
        yield point(operation, sizes, dtype, direction, memory_format=layout)
    for operation, sizes, dtype, direction in itertools.product(
            ("softmax", "log_softmax"), scores, ("float32", "bfloat16"), DIRECTIONS):
        yield point(operation, sizes, dtype, direction)


def layer_norm(x, parameters, weight, bias):
    import torch
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias)


def rms_norm(x, parameters, weight, bias):
    import torch
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight)


def group_norm(x, parameters, weight, bias):
    import torch
    return torch.nn.functional.group_norm(x, 32, weight, bias)


def batch_norm(x, parameters, weight, bias):
    import torch
    return torch.nn.functional.batch_norm(x, None, None, weight, bias, training=True)


def softmax(x, parameters, weight, bias):
    return x.softmax(-1)


def log_softmax(x, parameters, weight, bias):
    return x.log_softmax(-1)


def prepared(function, parameters, device, requires_grad):
    import torch
    x = operand(parameters["sizes"], parameters["dtype"], device)
    channels = x.shape[1] if x.dim() == 4 else x.shape[-1]
    if "memory_format" in parameters:
        x = x.contiguous(memory_format=getattr(torch, parameters["memory_format"]))
    x.requires_grad_(requires_grad)
    # Mixed precision keeps batch norm's parameters in float32; the other norms take the input's dtype.
    dtype = "float32" if function is batch_norm else parameters["dtype"]
    affine = [operand((channels,), dtype, device, requires_grad) for _ in range(2)]
    needed = {layer_norm: 2, rms_norm: 1, group_norm: 2, batch_norm: 2}.get(function, 0)
    return lambda: function(x, parameters, *affine), [x] + affine[:needed]


def forward(function):
    return lambda parameters, device: prepared(function, parameters, device, False)[0]


def backward(function):
    def build(parameters, device):
        call, inputs = prepared(function, parameters, device, True)
        return backward_of(call(), inputs)
    return build


OPERATIONS = {}
for norm in (layer_norm, rms_norm, group_norm, batch_norm, softmax, log_softmax):
    OPERATIONS[f"{norm.__name__}_forward"] = forward(norm)
    OPERATIONS[f"{norm.__name__}_backward"] = backward(norm)
