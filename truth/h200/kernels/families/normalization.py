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
    moved = numel(sizes) * BYTES[dtype] * (3 if direction == "backward" else 2)
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


MORE_ROWS = [(2, 768), (64, 512), (197, 768), (2048, 2048), (8192, 1024), (50432, 768), (12608, 384), (100352, 96),
             (25088, 192), (3, 5120), (700, 3000), (2000, 300), (40000, 128), (300, 20000), (128, 65536), (512, 10)]
MORE_IMAGES = [(8, 32, 112, 112), (64, 32, 112, 112), (64, 96, 112, 112), (64, 96, 56, 56), (64, 144, 56, 56),
               (16, 192, 28, 28), (64, 384, 14, 14), (128, 576, 14, 14), (64, 960, 7, 7), (64, 1280, 7, 7),
               (64, 64, 56, 56), (8, 256, 56, 56), (128, 512, 28, 28), (64, 2048, 7, 7), (4, 64, 256, 256),
               (10, 128, 128, 128), (4, 1024, 16, 16), (16, 24, 75, 75), (100, 40, 33, 33), (2, 100, 9, 9)]
MORE_SCORES = [(192, 384, 384), (1, 1000), (64, 1000), (12288, 512), (96, 197, 197), (8192, 50257), (256, 30522),
               (100352, 49), (16384, 128), (3000, 3000), (10, 100000), (32, 8, 64), (5000, 17), (4096, 8192),
               (20, 2047), (1024, 1025)]


def more_points(small):
    rows, images, scores = ((SMALL_ROWS, SMALL_IMAGES, SMALL_SCORES) if small else
                            (MORE_ROWS, MORE_IMAGES, MORE_SCORES))
    for sizes, dtype, layout, direction in itertools.product(images, ("float32", "bfloat16"), FORMATS,
                                                             (*DIRECTIONS, "inference")):
        yield point("batch_norm", sizes, dtype, direction, memory_format=layout)
    for operation, sizes, dtype, direction in itertools.product(("layer_norm", "rms_norm"), rows,
                                                                ("float32", "bfloat16"), DIRECTIONS):
        yield point(operation, sizes, dtype, direction)
    for operation, sizes, dtype, direction in itertools.product(("softmax", "log_softmax"), scores,
                                                                ("float32", "bfloat16"), DIRECTIONS):
        yield point(operation, sizes, dtype, direction)


TINY_ROWS = [(4, 16), (16, 64), (50, 32), (64, 128), (128, 48), (256, 256), (400, 64), (788, 192), (10, 100)]
TINY_IMAGES = [(2, 32, 4, 4), (4, 64, 8, 8), (2, 32, 16, 16), (8, 64, 7, 7), (1, 128, 14, 14), (4, 96, 20, 20)]
TINY_SCORES = [(4, 10), (16, 16), (64, 64), (8, 10, 10), (32, 49, 49), (16, 100), (512, 20), (2, 1000)]


def tiny_points(small):
    """Norms and softmax of a few rows or images."""
    rows, images, scores = ((SMALL_ROWS, SMALL_IMAGES, SMALL_SCORES) if small else
                            (TINY_ROWS, TINY_IMAGES, TINY_SCORES))
    for operations, sizes_list, more in ((("layer_norm", "rms_norm"), rows, {}), (("softmax", "log_softmax"), scores, {}),
                                         (("group_norm", "batch_norm"), images, {"memory_format": FORMATS[0]})):
        for operation, sizes, direction in itertools.product(operations, sizes_list, DIRECTIONS):
            yield point(operation, sizes, "float32", direction, **more)


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


def batch_norm_inference(x, parameters, weight, bias):
    import torch
    return torch.nn.functional.batch_norm(x, bias, weight.abs(), weight, bias, training=False)


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
    dtype = "float32" if function in (batch_norm, batch_norm_inference) else parameters["dtype"]
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
OPERATIONS["batch_norm_inference"] = forward(batch_norm_inference)
