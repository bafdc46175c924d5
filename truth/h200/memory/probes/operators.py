"""Single calls whose kernels take memory beside their outputs."""
import functools

import torch
from torch import nn
from torch.nn import functional

from .measuring import grid, measured_rows


def probe_sort(small, device):
    shapes = [(1000,), (2048,), (2049,), (10000,), (64, 1024), (64, 1025), (64, 5000)]
    shapes += [] if small else [(1000000,), (4000000,), (4096, 5000), (50000000,)]

    def sort(shape, dtype, kind):
        x = torch.randint(0, 1000, shape, device=device).to(getattr(torch, dtype))
        if kind == "topk":
            return lambda: x.topk(min(50, shape[-1]))
        return lambda: x.sort(stable=kind == "stable sort")

    axes = grid(shape=shapes, dtype=("float32", "bfloat16", "int64"), kind=("sort", "stable sort", "topk"))
    return measured_rows(device, ((s, functools.partial(sort, **s)) for s in axes))


def probe_index_put(small, device):
    counts = (16, 1000, 4096) + (() if small else (100000, 1000000))

    def put(count, width, rows, dtype):
        target = torch.zeros(rows, width, device=device, dtype=getattr(torch, dtype))
        index = torch.randint(0, rows, (count,), device=device)
        values = torch.ones(count, width, device=device, dtype=target.dtype)
        return lambda: target.index_put_((index,), values, accumulate=True)

    axes = grid(count=counts, width=(1, 64, 768), rows=(1000, 50000), dtype=("float32", "bfloat16"))
    return measured_rows(device, ((s, functools.partial(put, **s)) for s in axes))


def probe_embedding(small, device):
    tokens = (512, 3072, 3073) + (() if small else (8192, 65536, 262144))

    def embedding(tokens, width, rows, dtype, repeated):
        index = torch.randint(0, 10 if repeated else rows, (tokens,), device=device)
        grad = torch.ones(tokens, width, device=device, dtype=getattr(torch, dtype))
        return lambda: torch.ops.aten.embedding_dense_backward(grad, index, rows, -1, False)

    axes = grid(tokens=tokens, width=(128, 768), rows=(1000, 50257), dtype=("float32", "bfloat16"),
                repeated=(False, True))
    return measured_rows(device, ((s, functools.partial(embedding, **s)) for s in axes))


def normalization_call(device, kind, dtype, channels_last, shape, backward):
    x = torch.randn(shape, device=device, dtype=getattr(torch, dtype))
    if channels_last:
        x = x.to(memory_format=torch.channels_last)
    x.requires_grad_(True)
    if kind == "batch_norm":
        layer = nn.BatchNorm2d(shape[1], device=device)
    elif kind == "group_norm":
        layer = nn.GroupNorm(8, shape[1], device=device, dtype=x.dtype)
    else:
        layer = nn.LayerNorm(shape[-1], device=device, dtype=x.dtype)

    def both():
        out = layer(x)
        return torch.autograd.grad(out, (x, layer.weight, layer.bias), torch.ones_like(out))

    return both if backward else lambda: layer(x)


def probe_normalization(small, device):
    shapes = [(2, 16, 8, 8)] if small else [(32, 64, 112, 112), (32, 256, 56, 56), (32, 2048, 7, 7), (2, 64, 16, 16)]
    axes = list(grid(kind=("batch_norm", "group_norm"), dtype=("float32", "bfloat16", "float16"),
                     channels_last=(False, True), shape=shapes, backward=(False, True)))
    rows = (64,) if small else (4096, 65536, 65537, 262144)
    axes += grid(kind=("layer_norm",), dtype=("float32", "bfloat16"), channels_last=(False,),
                 shape=[(n, width) for n in rows for width in (64, 768, 4096) if n * width < 2**29],
                 backward=(False, True))
    return measured_rows(device, ((s, functools.partial(normalization_call, device, **s)) for s in axes))


def probe_reduction(small, device):
    """Reductions that are split over blocks, norms of lists, losses."""
    shapes = [(64, 64), (4096, 16)]
    shapes += [] if small else [(1000000,), (100000000,), (65536, 768), (768, 65536), (4, 10000000), (32, 3, 224, 224)]

    def reduce(kind, dtype, shape, dim):
        x = torch.randn(shape, device=device, dtype=getattr(torch, dtype))
        dims = {"all": None, "first": 0, "last": -1}[dim]
        return lambda: x.sum() if dims is None else x.sum(dims)

    axes = grid(kind=("sum",), dtype=("float32", "bfloat16"), shape=shapes, dim=("all", "first", "last"))
    rows = measured_rows(device, ((s, functools.partial(reduce, **s)) for s in axes))

    def loss(kind, dtype, rows, classes):
        x = torch.randn(rows, classes, device=device, dtype=getattr(torch, dtype), requires_grad=True)
        target = torch.randint(0, classes, (rows,), device=device)

        def both():
            return torch.autograd.grad(functional.cross_entropy(x, target), x)

        return both

    losses = grid(kind=("cross_entropy",), dtype=("float32", "bfloat16"), rows=(64, 2048), classes=(1000, 50257))
    rows += measured_rows(device, ((s, functools.partial(loss, **s)) for s in losses))

    def norms(kind, dtype, count, size):
        tensors = [torch.ones(size, device=device, dtype=getattr(torch, dtype)) for _ in range(count)]
        return lambda: torch._foreach_norm(tensors)

    lists = grid(kind=("foreach_norm",), dtype=("float32", "bfloat16"), count=(1, 100, 500), size=(1000, 65537, 300000))
    return rows + measured_rows(device, ((s, functools.partial(norms, **s)) for s in lists))
