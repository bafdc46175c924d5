"""Cross entropy and dropout, forward and backward; pooling and interpolation beside them."""
import itertools

from kernels.families.common import BYTES, backward_of, numel, operand

CLASSES = [(64, 1000), (256, 1000), (4096, 32000), (8192, 50257), (2048, 128256), (4096, 10)]
COUNTS = (1 << 14, 1 << 20, 1000003, 1 << 24, 1 << 27)
IMAGES = [(32, 64, 112, 112), (32, 256, 56, 56), (32, 2048, 7, 7), (2, 320, 64, 64)]
DIRECTIONS = ("forward", "backward")
POOLS = ("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "interpolate")


def points(small):
    classes, counts, images = (([(4, 10)], (64,), [(2, 3, 8, 8)]) if small else
                               (CLASSES, COUNTS, IMAGES))
    for sizes, dtype, direction in itertools.product(classes, ("float32", "bfloat16"), DIRECTIONS):
        yield (f"cross_entropy_{direction}", {"sizes": list(sizes), "dtype": dtype}, 0,
               3 * numel(sizes) * BYTES[dtype])
    for count, dtype, direction in itertools.product(counts, ("float32", "bfloat16"), DIRECTIONS):
        yield (f"dropout_{direction}", {"sizes": [count], "dtype": dtype}, 0,
               count * (2 * BYTES[dtype] + 1))
    for pool, sizes, dtype, direction in itertools.product(POOLS, images, ("float32", "bfloat16"),
                                                           DIRECTIONS):
        yield (f"{pool}_{direction}", {"sizes": list(sizes), "dtype": dtype}, 0,
               2 * numel(sizes) * BYTES[dtype])


MORE_IMAGES = [(8, 64, 112, 112), (64, 64, 112, 112), (4, 64, 256, 256), (16, 128, 128, 128), (32, 512, 28, 28),
               (4, 512, 32, 32), (64, 192, 55, 55), (64, 480, 14, 14), (2, 16, 37, 41), (128, 1280, 7, 7),
               (64, 96, 56, 56), (16, 960, 7, 7), (1, 64, 500, 500), (256, 832, 7, 7)]
FORMATS = ("contiguous_format", "channels_last")


def more_points(small):
    for pool, sizes, dtype, layout, direction in itertools.product(
            POOLS[:3], [(2, 3, 8, 8)] if small else MORE_IMAGES, ("float32", "bfloat16"), FORMATS, DIRECTIONS):
        yield (f"{pool}_{direction}", {"sizes": list(sizes), "dtype": dtype, "memory_format": layout}, 0,
               2 * numel(sizes) * BYTES[dtype])


def cross_entropy(x):
    import torch
    target = torch.randint(x.shape[1], (x.shape[0],), device=x.device)
    return lambda: torch.nn.functional.cross_entropy(x, target)


def dropout(x):
    import torch
    return lambda: torch.nn.functional.dropout(x, 0.1, training=True)


def pooling(name):
    arguments = {"max_pool2d": {"kernel_size": 3, "stride": 2, "padding": 1},
                 "avg_pool2d": {"kernel_size": 2}, "adaptive_avg_pool2d": {"output_size": 1},
                 "interpolate": {"scale_factor": 2.0, "mode": "nearest"}}[name]

    def call_on(x):
        import torch
        return lambda: getattr(torch.nn.functional, name)(x, **arguments)
    return call_on


def directions(call_on, direction):
    def build(parameters, device):
        import torch
        layout = getattr(torch, parameters.get("memory_format", "preserve_format"))
        x = operand(parameters["sizes"], parameters["dtype"], device).to(memory_format=layout)
        call = call_on(x.requires_grad_(direction == "backward"))
        return call if direction == "forward" else backward_of(call(), [x])
    return build


OPERATIONS = {}
for name, call_on in (("cross_entropy", cross_entropy), ("dropout", dropout),
                      *((pool, pooling(pool)) for pool in POOLS)):
    for direction in DIRECTIONS:
        OPERATIONS[f"{name}_{direction}"] = directions(call_on, direction)
