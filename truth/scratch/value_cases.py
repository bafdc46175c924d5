"""Elements by their value: different ones, medians, searches, counts, random draws."""
import itertools

import torch

from tensors import aten, double, empty, finding_true, flag, full, half, long, low

byte, short, word = torch.uint8, torch.int16, torch.int32


def uniques():
    for count, dtype, inverse, counts in itertools.product(
            (0, 10, 3000, 4865, 1000000, 1 << 27), (full, low, half, double, long, word, short, byte, flag), (False, True), (False, True)):
        if count >= 1000000 and inverse != counts:
            continue
        yield lambda n=count, t=dtype, i=inverse, c=counts: aten._unique2(empty(n, dtype=t), True, i, c)
        yield lambda n=count, t=dtype, i=inverse, c=counts: aten.unique_consecutive(empty(n, dtype=t), i, c)
        if not counts:
            yield lambda n=count, t=dtype, i=inverse: aten._unique(empty(n, dtype=t), True, i)
    yield lambda: aten._unique2(empty(100, 64).t(), True, True, True)
    yield lambda: aten.unique_consecutive(empty(100, 64).t(), True, True)
    for (shape, dim), inverse, counts in itertools.product([((10,), 0), ((3000, 4), 1), ((100000, 3), 0), ((64, 1000), -1), ((50000000, 1), 0), ((100, 7, 5), 1)], (False, True), (False, True)):
        yield lambda s=shape, d=dim, i=inverse, c=counts: aten.unique_dim(empty(*s), d, True, i, c)
        yield lambda s=shape, d=dim, i=inverse, c=counts: aten.unique_dim_consecutive(empty(*s), d, i, c)
        yield lambda s=shape, d=dim, i=inverse, c=counts: aten.unique_consecutive(empty(*s), i, c, d)
    yield lambda: aten.unique_dim(empty(100, 64).t(), 0)
    yield lambda: aten.unique_dim(empty(100, 64, dtype=low).t(), 1)


def medians():
    for shape, dtype in itertools.product([(0,), (), (1,), (1000,), (2000000,), (64, 1025), (4096, 5000)], (full, low, long, byte)):
        yield lambda s=shape, t=dtype: aten.median(empty(*s, dtype=t))
        yield lambda s=shape, t=dtype: aten.nanmedian(empty(*s, dtype=t))
    for function in (aten.median, aten.nanmedian, lambda x, d=0: aten.kthvalue(x, 2, d), aten.mode):
        for shape, dim in itertools.product([(10,), (64, 100), (3000, 64), (4, 8, 30)], (0, -1)):
            yield lambda f=function, s=shape, d=dim: f(empty(*s), d)
        yield lambda f=function: f(empty(64, 100).t(), 0)
    yield lambda: aten.median(empty(100, 64).t())
    yield lambda: aten.nanmedian(empty(100, 64).t())
    for count in (4864, 4865, 5000):
        yield lambda n=count: torch.randperm(n, device="cuda", dtype=word)


def searches():
    for bounds, shape in itertools.product([(10,), (1000,), (64, 1000)], [(), (5,), (64, 7), (100000,)]):
        if len(bounds) == 2 and shape != (64, 7):
            continue
        for a, b in itertools.product((full, low, double, long, word), repeat=2):
            yield lambda x=bounds, y=shape, a=a, b=b: aten.searchsorted(empty(*x, dtype=a), empty(*y, dtype=b))
            if len(bounds) == 1:
                yield lambda x=bounds, y=shape, a=a, b=b: aten.bucketize(empty(*y, dtype=b), empty(*x, dtype=a))
        yield lambda x=bounds, y=shape: aten.searchsorted(empty(*x), empty(*y), sorter=empty(*x, dtype=long))
    turned = lambda dtype, *shape: empty(*shape, dtype=dtype).t()  # noqa: E731
    for function in (lambda: aten.searchsorted(empty(1000), 0.5), lambda: aten.searchsorted(empty(1000, dtype=long), 0.5), lambda: aten.bucketize(0.5, empty(100)),
                     lambda: aten.searchsorted(empty(1000, dtype=long), 5), lambda: aten.searchsorted(empty(3000000), empty(8), sorter=empty(3000000, dtype=long)),
                     lambda: aten.searchsorted(turned(full, 1000, 64), turned(full, 5, 64)), lambda: aten.searchsorted(turned(long, 1000, 64), turned(full, 5, 64)),
                     lambda: aten.searchsorted(turned(full, 1000, 64), turned(full, 5, 64), sorter=turned(long, 1000, 64)), lambda: aten.bucketize(turned(full, 64, 5), empty(100))):
        yield function
    for shape, tests, dtype, is_unique in itertools.product([(20,), (1000,), (64, 1000), (1000000,)], (1, 9, 10, 50, 1000, 100000), (full, low, long), (False, True)):
        yield lambda s=shape, n=tests, t=dtype, u=is_unique: aten.isin(empty(*s, dtype=t), empty(n, dtype=t), assume_unique=u)
    yield lambda: aten.isin(empty(100, 64).t(), empty(5))
    yield lambda: aten.isin(empty(100, 64, dtype=long), 3)
    for count, dtype, least, weights in itertools.product((0, 1000, 5000000), (long, word, byte), (0, 500, 1001), (None, full, low)):
        yield lambda n=count, t=dtype, m=least, w=weights: aten.bincount(empty(n, dtype=t), None if w is None else empty(n, dtype=w), m)


def draws():
    for shape, dtype in itertools.product([(), (10,), (1000, 1000)], (full, low, half, double)):
        yield lambda s=shape, t=dtype: aten.bernoulli(empty(*s, dtype=t))
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).bernoulli_(0.5)
        yield lambda s=shape, t=dtype: empty(*s, dtype=t).bernoulli_(empty(*s))
        yield lambda s=shape, t=dtype: aten.normal(empty(*s, dtype=t), 0.5)
        yield lambda s=shape, t=dtype: finding_true(lambda: aten.normal(0.5, empty(*s, dtype=t)))
        yield lambda s=shape, t=dtype: finding_true(lambda: aten.normal(empty(*s, dtype=t), empty(*s, dtype=t)))
    yield lambda: finding_true(lambda: aten.normal(empty(4, 1), empty(1, 5)))
    yield lambda: finding_true(lambda: aten.normal(empty(1000, 1000).t(), empty(1000, 1000).t()))
    shapes = [(10,), (50257,), (4, 1000), (4, 50257), (64, 32000), (1, 100000), (1000000,)]
    for shape, dtype, count, replacement in itertools.product(shapes, (full, low, half, double), (1, 3), (False, True)):
        yield lambda s=shape, t=dtype, n=count, r=replacement: aten.multinomial(empty(*s, dtype=t), n, r)
