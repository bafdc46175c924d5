"""The calls of temporaries.py: chosen ones by family, and PyTorch's operator database."""
import functools
import itertools

import torch

half, low, full, double, long, flag = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool)
aten = torch.ops.aten


def survey():
    from torch.testing._internal.common_methods_invocations import op_db

    for entry, dtype in itertools.product(op_db, (full, low)):
        if dtype in entry.supported_dtypes("cuda"):
            yield f"{entry.name} {dtype}", functools.partial(run_samples, entry, dtype)


def run_samples(entry, dtype):
    for sample in entry.sample_inputs("cuda", dtype, requires_grad=entry.supports_autograd):
        result = entry(sample.input, *sample.args, **sample.kwargs)
        first = result[0] if isinstance(result, (tuple, list)) else result
        if isinstance(first, torch.Tensor) and first.requires_grad and first.dtype.is_floating_point:
            first.sum().backward()


def chosen():
    """(name, function) of every case; grouped by family."""
    for family in FAMILIES:
        for index, function in enumerate(family()):
            yield f"{family.__name__} {index}", function


def empty(*shape, dtype=full):
    return torch.empty(shape, device="cuda", dtype=dtype)


def strided(shape, strides, dtype=full):
    return torch.empty_strided(shape, strides, device="cuda", dtype=dtype)


def call(function, *shapes, dtype=full, **keywords):
    """A case: tensors of these shapes, made when it runs."""
    return lambda: function(*(empty(*shape, dtype=dtype) for shape in shapes), **keywords)


def reductions():
    shapes = [((4096, 1024), 0), ((4096, 1024), 1), ((8192, 50257), 0), ((32768, 768), 0), ((4096, 3), 0),
              ((100000, 5), 0), ((1000000,), 0), ((1000,), 0), ((5000,), 0), ((30000,), 0), ((16777216,), 0), ((3, 1000000), 1),
              ((64, 4096, 100), 1), ((64, 4096, 96), (0, 1)), ((16, 512, 28, 28), (0, 2, 3)), ((256, 64, 56, 56), (0, 2, 3)),
              ((256, 64, 56, 56), (2, 3)), ((8, 12, 128, 128), (0, 1)), ((2, 3, 5, 7), (0, 2)), ((512, 1000), 0), ((300, 1), 0),
              ((2048, 1, 768), 0), ((1, 2048, 768), (0, 1)), ((7, 100000, 6), 1), ((100000, 2), 1), ((50, 3, 20000), (0, 2)), ((65536, 32), 0)]
    for (shape, dims), dtype in itertools.product(shapes, (full, low)):
        yield lambda s=shape, d=dims, t=dtype: empty(*s, dtype=t).sum(d)
    functions = [lambda x: x.sum(), lambda x: x.mean(), lambda x: x.mean(0), lambda x: x.mean(-1), lambda x: x.amax(0), lambda x: x.amax(),
                 lambda x: x.max(), lambda x: x.min(), lambda x: x.max(0), lambda x: x.min(-1), lambda x: x.argmax(0), lambda x: x.argmax(-1), lambda x: x.argmax(),
                 lambda x: x.argmin(), lambda x: x.var(0), lambda x: x.var(), lambda x: x.std(-1), lambda x: torch.var_mean(x, (0,)), lambda x: x.prod(), lambda x: x.prod(0),
                 lambda x: torch.linalg.vector_norm(x), lambda x: torch.linalg.vector_norm(x, 1, 0), lambda x: x.norm(), lambda x: x.norm(2, 0),
                 lambda x: x.any(), lambda x: x.all(), lambda x: x.any(0), lambda x: x.all(0), lambda x: x.aminmax(), lambda x: x.sum(dtype=full),
                 lambda x: x.logsumexp(0), lambda x: x.logsumexp(-1), lambda x: x.nansum(), lambda x: x.sum(0, dtype=full), lambda x: x.mean(0, dtype=full)]
    for function, dtype, shape in itertools.product(functions, (full, low, half), [(4096, 768), (100, 200000), (10, 10), (3000000,)]):
        yield lambda f=function, t=dtype, s=shape: f(empty(*s, dtype=t))
    for dtype, shape in itertools.product((long, flag, torch.int32, torch.uint8, double), [(4096, 768), (64, 512), (3000000,)]):
        for function in (torch.sum, torch.any, torch.all, torch.argmax, torch.max, torch.count_nonzero):
            yield lambda f=function, t=dtype, s=shape: f(empty(*s, dtype=t))
    yield lambda: empty(4096, 768, dtype=flag).sum(0)
    # Beyond 32 bits of offset, and in layouts that are not row-major.
    for dtype in (full, low):
        yield lambda t=dtype: empty(3, 1 << 30, dtype=t).sum(1)
        yield lambda t=dtype: empty(1 << 21, 1000, dtype=t).sum(0)
        yield lambda t=dtype: empty(1 << 21, 1500, dtype=t).sum()
        yield lambda t=dtype: empty(768, 4096, dtype=t).t().sum(0)
        yield lambda t=dtype: empty(64, 56, 56, 256, dtype=t).permute(0, 3, 1, 2).sum((0, 2, 3))
        yield lambda t=dtype: empty(64, 56, 56, 250, dtype=t).permute(0, 3, 1, 2).mean((2, 3))
        yield lambda t=dtype: empty(1, dtype=t).expand(4096, 768).sum(0)
        yield lambda t=dtype: empty(4096, 1, dtype=t).expand(4096, 768).sum(0)
        yield lambda t=dtype: empty(4096, 1536, dtype=t)[:, :768].sum(0)
        yield lambda t=dtype: empty(4096, 1537, dtype=t)[:, 1:769].sum(0)
        yield lambda t=dtype: empty(4096, 1536, dtype=t)[:, 2:770].sum(0)
        yield lambda t=dtype: empty(32, 12, 512, 64, dtype=t).transpose(1, 2).sum((0, 1))
        yield lambda t=dtype: empty(dtype=t).sum()


FAMILIES = [reductions]
