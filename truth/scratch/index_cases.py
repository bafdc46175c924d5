"""Indices, sorting, random numbers."""
import itertools

import torch

from tensors import aten, empty, flag, full, long, low


def indexing():
    for count, width, rows, dtype in itertools.product((1, 1000, 3072, 3073, 8192, 100000), (1, 64, 768), (1000, 50257), (full, low)):
        def embedding(n=count, w=width, r=rows, t=dtype):
            aten.embedding_dense_backward(empty(n, w, dtype=t), empty(n, dtype=long), r, -1, False)

        yield embedding
    for padding, scaled, dtype in ((0, False, long), (-1, True, long), (-1, False, torch.int32)):
        for count in (1000, 8192):
            yield lambda n=count, p=padding, s=scaled, d=dtype: aten.embedding_dense_backward(empty(n // 8, 8, 64), empty(n // 8, 8, dtype=d), 1000, p, s)
    for count, dtype in itertools.product((1, 16, 1000, 4096, 100000, 3000000), (full, low)):
        for accumulate in (True, False):
            yield lambda n=count, t=dtype, a=accumulate: aten.index_put(empty(5000, 64, dtype=t), [empty(n, dtype=long)], empty(n, 64, dtype=t), a)
        yield lambda n=count, t=dtype: aten.index_put_(empty(5000, 4, dtype=t), [empty(n, dtype=long)], empty(1, 4, dtype=t), True)
        yield lambda n=count, t=dtype: aten._index_put_impl_(empty(5000, 4, dtype=t), [None, empty(n, dtype=long)], empty(5000, n, dtype=t) if n < 5000 else empty(1, n, dtype=t), True, True)
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t)[empty(n, dtype=long)]
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t)[empty(n, dtype=long), empty(n, dtype=long)]
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t)[:, empty(n % 4000, dtype=long)]
        yield lambda n=count, t=dtype: aten.index_put(empty(5000, 4, dtype=t), [empty(n, dtype=long), empty(n, dtype=long)], empty(n, dtype=t), True)
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t).scatter_add(0, empty(n, 4, dtype=long), empty(n, 4, dtype=t))
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t).scatter(0, empty(n, 4, dtype=long), empty(n, 4, dtype=t))
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t).scatter_reduce(0, empty(n, 4, dtype=long), empty(n, 4, dtype=t), "mean")
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t).gather(0, empty(n, 4, dtype=long))
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t).index_select(0, empty(n, dtype=long))
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t).index_add(0, empty(n, dtype=long), empty(n, 4, dtype=t))
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t).index_fill(0, empty(n, dtype=long), 0)
        yield lambda n=count, t=dtype: empty(5000, 4, dtype=t).index_copy(0, empty(n, dtype=long), empty(n, 4, dtype=t))
        yield lambda n=count, t=dtype: empty(n, 4, dtype=t).masked_select(empty(n, 4, dtype=flag))
        yield lambda n=count, t=dtype: empty(n, 4, dtype=t)[empty(n, dtype=flag)]
        yield lambda n=count, t=dtype: empty(n, 4, dtype=t).masked_fill(empty(n, 1, dtype=flag), 0)
        yield lambda n=count, t=dtype: empty(n, 4, dtype=t).masked_scatter(empty(n, 4, dtype=flag), empty(n, 4, dtype=t))
        yield lambda n=count, t=dtype: empty(n, 4, dtype=t).nonzero()
        yield lambda n=count, t=dtype: empty(n, dtype=t).take(empty(min(n, 100), dtype=long))
    for mode in (0, 1, 2):
        for count in (100, 5000):
            def bag(m=mode, n=count):
                weight = empty(1000, 64).requires_grad_()
                torch.nn.functional.embedding_bag(empty(n, dtype=long), weight, empty(10, dtype=long), mode=("sum", "mean", "max")[m]).sum().backward()

            yield bag


def sorting():
    shapes = [(10,), (1000,), (2048,), (2049,), (10000,), (1000000,), (64, 100), (64, 1024), (64, 1025), (64, 5000), (4096, 5000), (8, 4096, 8), (100000, 8)]
    for shape, dtype in itertools.product(shapes, (full, low, long, torch.int32)):
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).sort()
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).sort(stable=True, dim=0)
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).argsort(descending=True)
        for k in (1, 2, 8, 50):
            yield lambda s=shape, t=dtype, k=k: empty(*s, dtype=t).topk(min(k, s[-1]))
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).cumsum(-1)
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).cumsum(0)
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).kthvalue(1)
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).median()
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).cummax(-1)
        yield lambda s=shape, t=dtype: torch.unique(empty(*s, dtype=t), return_inverse=True, return_counts=True)
        yield lambda s=shape, t=dtype: torch.unique_consecutive(empty(*s, dtype=t))
        yield lambda s=shape, t=dtype: torch.searchsorted(empty(*s, dtype=t), empty(*s, dtype=t))
    for dtype in (full, flag, torch.uint8):
        yield lambda t=dtype: empty(1000000, dtype=t).cumsum(0)
    for count in (10, 1000, 30000, 100000, 1000000):
        yield lambda n=count: torch.randperm(n, device="cuda")
        yield lambda n=count: torch.bincount(empty(n, dtype=long))
        yield lambda n=count: empty(n).histc()
        yield lambda n=count: torch.multinomial(empty(n), 1)
        yield lambda n=count: torch.multinomial(empty(4, n), 3)


def randoms():
    x = lambda: empty(1000, 1000)  # noqa: E731
    for function in (lambda: x().bernoulli_(0.5), lambda: torch.bernoulli(x()), lambda: torch.randn(1000, 1000, device="cuda"), lambda: torch.rand(10, device="cuda"),
                     lambda: torch.randint(0, 10, (1000,), device="cuda"), lambda: x().uniform_(), lambda: x().exponential_(), lambda: torch.normal(x(), 1.0),
                     lambda: aten.native_dropout(x(), 0.1, True), lambda: aten.native_dropout_backward(x(), x() > 0, 1.1), lambda: torch.nn.functional.dropout2d(empty(4, 8, 2, 2)),
                     lambda: torch.nn.functional.alpha_dropout(x(), 0.1), lambda: torch.nn.functional.gumbel_softmax(x()), lambda: x().random_(), lambda: torch.poisson(x()),
                     lambda: torch.nn.functional.rrelu(x(), training=True), lambda: torch.arange(1000, device="cuda"), lambda: torch.linspace(0, 1, 100, device="cuda")):
        yield function
