"""Matrix products: addmm and mm in every operand layout, bmm, fp8 through _scaled_mm."""
import itertools
import math
import random

from kernels.families.common import BYTES, operand

SQUARE = [(n, n, n) for n in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)]
MIXED = [s for s in itertools.product((16, 128, 1024, 8192), repeat=3) if len(set(s)) > 1]
ODD = [(17, 33, 65), (100, 100, 100), (127, 255, 511), (1000, 1000, 1000), (1023, 1025, 1024),
       (2047, 2049, 2051), (4095, 4097, 4093), (777, 3001, 1235), (1, 4096, 4096),
       (1, 16384, 4096), (7, 4096, 11008), (3, 50257, 768), (13824, 5120, 2049)]
NETWORKS = [(1024, 50257, 768), (4096, 32000, 4096), (2048, 5120, 13824), (4096, 14336, 4096),
            (4096, 4096, 14336), (6304, 768, 3072), (6304, 3072, 768), (6304, 2304, 768),
            (4096, 768, 768), (4096, 3072, 768), (4096, 768, 3072), (64, 1000, 2048),
            (577, 1024, 1024), (32, 4096, 4096), (256, 11008, 4096), (8192, 28672, 8192)]
BATCHED = [(96, 512, 512, 64), (96, 512, 64, 512), (384, 197, 197, 64), (384, 197, 64, 197),
           (32, 2048, 2048, 128), (32, 2048, 128, 2048), (12, 128, 128, 64), (12, 1, 1024, 64),
           (256, 64, 64, 64), (4096, 16, 16, 16), (1024, 49, 49, 32), (8, 1024, 1024, 1024),
           (2, 4096, 4096, 4096), (64, 33, 65, 17), (64, 255, 257, 127), (16, 4096, 4096, 64),
           (3, 1000, 1001, 999), (128, 1, 4096, 128), (128, 4096, 1, 128), (512, 256, 256, 64)]
MORE_BATCHED = [(192, 384, 384, 64), (192, 384, 64, 384), (24, 1024, 1024, 64), (64, 128, 128, 32), (2048, 49, 49, 32),
                (2048, 49, 32, 49), (8, 512, 512, 512), (128, 512, 32, 512), (640, 64, 64, 128), (4, 3000, 200, 100)]
DTYPES = ("float32", "tf32", "bfloat16", "float16")


def product(operation, sizes, dtype, layout):
    m, n, k = sizes[-3:]
    batch = sizes[0] if len(sizes) == 4 else 1
    parameters = {"sizes": list(sizes), "dtype": dtype, "layout": layout}
    output_bytes = 2 if dtype == "float8_e4m3fn" else BYTES[dtype]
    moved = batch * ((m * k + k * n) * BYTES[dtype] + m * n * output_bytes)
    return operation, parameters, 2 * batch * m * n * k, moved


def points(small):
    if small:
        shapes, other_layouts, batched, fp8 = ([(16, 16, 16), (17, 33, 65)], [(16, 32, 48)],
                                               [(2, 16, 17, 18)], [(16, 32, 16)])
    else:
        shapes, other_layouts, batched = SQUARE + MIXED + ODD + NETWORKS, NETWORKS + ODD[:6], BATCHED
        fp8 = [s for s in SQUARE + MIXED + NETWORKS if s[1] % 16 == 0 and s[2] % 16 == 0]
    for dtype in DTYPES:
        for sizes in shapes:
            yield product("addmm", sizes, dtype, "nt")  # a linear layer: weight is (N, K)
        for sizes in batched:
            yield product("bmm", sizes, dtype, "nn")
    for dtype, layout in itertools.product(("tf32", "bfloat16"), ("nn", "tn")):
        for sizes in other_layouts:  # the products of a linear layer's backward
            yield product("mm", sizes, dtype, layout)
    for sizes in fp8:
        yield product("_scaled_mm", sizes, "float8_e4m3fn", "nt")


MORE_PRODUCTS = 70
LARGEST_OF_MORE = 3e11  # FLOPs: 6 ms in float32


def more_points(small):
    """Sizes drawn between 8 and 16384 with equal shares of each octave, multiples of 8 but for every third."""
    drawn, made = random.Random(1), 0
    while made < (1 if small else MORE_PRODUCTS):
        sizes = tuple(round(2 ** drawn.uniform(3, 5 if small else 14)) for _ in "mnk")
        sizes = sizes if made % 3 == 0 else tuple(-(-size // 8) * 8 for size in sizes)
        if 2 * math.prod(sizes) > LARGEST_OF_MORE:
            continue
        made += 1
        for dtype, (operation, layout) in itertools.product(("float32", "tf32"),
                                                            (("addmm", "nt"), ("mm", ("nn", "tn")[made % 2]))):
            yield product(operation, sizes, dtype, layout)
    for batch, *sizes in [(2, 16, 17, 18)] if small else MORE_BATCHED:
        for dtype in ("float32", "tf32"):
            yield product("bmm", (batch, *sizes), dtype, "nn")


TINY_PRODUCTS, TINY_BATCHED = 60, 24


def tiny_points(small):
    """Products that fill no wave of an H200: sizes drawn from 1 (rows) and 4 to 1024, equal shares of each octave."""
    drawn = random.Random(3)
    for number in range(1 if small else TINY_PRODUCTS):
        m, n, k = round(2 ** drawn.uniform(0, 10)), round(2 ** drawn.uniform(2, 10)), round(2 ** drawn.uniform(2, 10))
        if number % 3:
            n, k = -(-n // 8) * 8, -(-k // 8) * 8
        for dtype, (operation, layout) in itertools.product(
                ("float32", "tf32", "bfloat16"), (("addmm", "nt"), ("mm", ("nn", "tn")[number % 2]))):
            yield product(operation, (m, n, k), dtype, layout)
    for _ in range(1 if small else TINY_BATCHED):
        batch, m, n, k = (round(2 ** drawn.uniform(low, high)) for low, high in ((1, 7), (2, 7), (2, 7), (2, 7)))
        for dtype in ("float32", "tf32", "bfloat16"):
            yield product("bmm", (batch, m, n, k), dtype, "nn")


def matrix(rows, columns, transposed, dtype, device):
    if transposed:
        return operand((columns, rows), dtype, device).t()
    return operand((rows, columns), dtype, device)


def operands(parameters, device):
    m, n, k = parameters["sizes"]
    first, second = (letter == "t" for letter in parameters["layout"])
    return (matrix(m, k, first, parameters["dtype"], device),
            matrix(k, n, second, parameters["dtype"], device))


def addmm(parameters, device):
    import torch
    a, b = operands(parameters, device)
    bias = operand((parameters["sizes"][1],), parameters["dtype"], device)
    return lambda: torch.addmm(bias, a, b)


def mm(parameters, device):
    import torch
    a, b = operands(parameters, device)
    return lambda: torch.mm(a, b)


def bmm(parameters, device):
    import torch
    batch, m, n, k = parameters["sizes"]
    a = operand((batch, m, k), parameters["dtype"], device)
    b = operand((batch, k, n), parameters["dtype"], device)
    return lambda: torch.bmm(a, b)


def scaled_mm(parameters, device):
    import torch
    a, b = operands(parameters, device)
    one = torch.ones((), device=device)
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


OPERATIONS = {"addmm": addmm, "mm": mm, "bmm": bmm, "_scaled_mm": scaled_mm}
