"""Reductions over everything, the inner and the outer dimension; cumulative sums, top-k, sort."""
import itertools

from kernels.families.common import BYTES, numel, operand

SIZES = [(1024, 1024), (4096, 4096), (16384, 4096), (65536, 768), (64, 1 << 20), (1001, 1003),
         (32, 768)]
OPERATIONS_OF_SUM = ("sum", "mean", "amax", "norm", "argmax")
DIMENSIONS = {"all": None, "inner": 1, "outer": 0}
SCANS = ("cumsum", "topk", "sort")


def points(small):
    sizes_list = [(8, 9)] if small else SIZES
    for operation, sizes, dtype, over in itertools.product(
            OPERATIONS_OF_SUM, sizes_list, ("float32", "bfloat16"), DIMENSIONS):
        yield (operation, {"sizes": list(sizes), "dtype": dtype, "over": over}, 0,
               numel(sizes) * BYTES[dtype])
    for operation, sizes in itertools.product(SCANS, sizes_list):
        yield (operation, {"sizes": list(sizes), "dtype": "float32", "over": "inner"}, 0,
               2 * numel(sizes) * 4)


TINY_SIZES = [(4, 16), (16, 16), (64, 32), (128, 64), (400, 48), (512, 128), (32, 1000), (3, 4096), (788, 192)]


def tiny_points(small):
    """Reductions of up to 150 000 numbers, as for the gradient of a small layer's bias."""
    for operation, sizes, over in itertools.product(("sum", "mean", "amax"), [(8, 9)] if small else TINY_SIZES, DIMENSIONS):
        yield operation, {"sizes": list(sizes), "dtype": "float32", "over": over}, 0, numel(sizes) * 4


def reduce_with(operation):
    def build(parameters, device):
        import torch
        x = operand(parameters["sizes"], parameters["dtype"], device)
        dimension = DIMENSIONS[parameters["over"]]
        if operation == "norm":
            return lambda: torch.linalg.vector_norm(x, dim=dimension)
        function = getattr(torch, operation)
        return (lambda: function(x)) if dimension is None else (lambda: function(x, dim=dimension))
    return build


def scan(operation):
    def build(parameters, device):
        x = operand(parameters["sizes"], parameters["dtype"], device)
        if operation == "topk":
            return lambda: x.topk(min(8, x.shape[1]), dim=1)
        return lambda: getattr(x, operation)(dim=1)
    return build


OPERATIONS = {**{name: reduce_with(name) for name in OPERATIONS_OF_SUM},
              **{name: scan(name) for name in SCANS}}
