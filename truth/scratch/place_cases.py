"""Elements by their place: lists of indices, masks, what is scattered, gradients of embeddings."""
import itertools

import torch

from tensors import aten, double, empty, flag, full, half, long, low

word = torch.int32


def lists_of_indices():
    x, at = empty, lambda *shape: empty(*shape, dtype=long)  # noqa: E731
    for function in (
        lambda: x(50, 60)[at(40, 1), at(1, 70)], lambda: x(50, 60)[at(40, 1), at(70)], lambda: x(50, 60)[empty(40, dtype=word)], lambda: x(50, 60)[empty(40, 1, dtype=word), at(1, 70)],
        lambda: x(2, 50, 60)[:, at(40, 1), at(70)], lambda: x(2, 50, 60)[at(40, 1), :, at(70)], lambda: x(50, 60)[at(1), at(70)], lambda: x(50, 60)[at(70, 40).t()],
        lambda: x(50, 60)[at(70, 40).t(), at(40, 70)], lambda: x(4, 50, 60)[at(4)[:, None], at(4, 7)], lambda: x(50, 60)[at(70).expand(3, 70), at(3, 70)],
        lambda: x(60, 50).t()[at(40, 1), at(1, 70)], lambda: x(50, 60, 8)[:, at(7, 9)], lambda: x(50, 60)[:, empty(60, dtype=flag)], lambda: x(50, 60)[empty(50, dtype=flag), at(1)],
        lambda: aten._unsafe_index(x(50, 60), [at(40, 1), at(1, 70)]), lambda: aten._unsafe_index(x(50, 60), [None, at(70)])):
        yield function
    puts = [((50, 60), lambda: [at(40, 1), at(1, 70)], lambda: x(40, 70)), ((50, 60), lambda: [at(40, 1), at(70)], lambda: x()), ((50, 60), lambda: [empty(40, dtype=word)], lambda: x(40, 60)),
            ((4, 50, 60), lambda: [at(4, 1), at(4, 7)], lambda: x(4, 7, 60)), ((4, 50, 60), lambda: [at(4, 1), None, at(4, 7)], lambda: x(4, 7, 50)),
            ((50, 60), lambda: [at(40)], lambda: x(60, 40).t()), ((50, 60), lambda: [at(80)[::2]], lambda: x(40, 60)), ((256, 4), lambda: [at(5000)], lambda: x(5000, 4)),
            ((257, 4), lambda: [at(5000)], lambda: x(5000, 4)), ((2, 3, 500, 500), lambda: [None, None, at(700, 1), at(700)], lambda: x(2, 3, 700, 700))]
    for (shape, indices, values), accumulate in itertools.product(puts, (False, True)):
        yield lambda s=shape, i=indices, v=values, a=accumulate: aten.index_put(x(*s), i(), v(), a)
        yield lambda s=shape, i=indices, v=values, a=accumulate: aten.index_put_(x(*s), i(), v(), a)
        yield lambda s=shape, i=indices, v=values, a=accumulate: aten._unsafe_index_put(x(*s), i(), v(), a)
        yield lambda s=shape, i=indices, v=values, a=accumulate: aten._index_put_impl_(x(*s), i(), v(), a, True)
    yield lambda: aten.index_put(x(60, 50).t(), [at(40)], x(40, 60), True)
    yield lambda: aten.index_put(x(50, 60), [empty(50, dtype=flag)], x(), False)
    for dtype, (size, wide) in itertools.product((full, low), ((50, 60), (500, 700))):
        def masked(t=dtype, a=size, b=wide):
            line, plane = empty(b, dtype=flag), empty(b, b, dtype=flag)
            for shape, mask, indices in (((a, a), plane, [at(b, 1), at(1, b)]), ((3, a), line, [None, at(b)]), ((2, 3, a, a), plane, [None, None, at(b, 1), at(b)])):
                found = aten._unsafe_masked_index(empty(*shape, dtype=t), mask, indices, 0.0)
                aten._unsafe_masked_index_put_accumulate(empty(*shape, dtype=t), mask, indices, found)
            aten._unsafe_masked_index(empty(a, a, dtype=t), empty(b, 1, dtype=flag), [at(b, 1), at(1, b)], 0.0)

        yield masked


def scattered():
    for count, dtype, includes in itertools.product((1, 1000, 100000), (full, low, long), (True, False)):
        yield lambda n=count, t=dtype, i=includes: aten.scatter_reduce(empty(5000, 4, dtype=t), 0, empty(n, 4, dtype=long), empty(n, 4, dtype=t), "mean", include_self=i)
        yield lambda n=count, t=dtype, i=includes: aten.scatter_reduce_(empty(5000, 4, dtype=t), 0, empty(n, 4, dtype=long), empty(n, 4, dtype=t), "mean", include_self=i)
        yield lambda n=count, t=dtype, i=includes: aten.index_reduce(empty(5000, 4, dtype=t), 0, empty(n, dtype=long), empty(n, 4, dtype=t), "mean", include_self=i)
        yield lambda n=count, t=dtype, i=includes: aten.index_reduce_(empty(4, 5000, dtype=t), 1, empty(n, dtype=word), empty(4, n, dtype=t), "mean", include_self=i)
    yield lambda: aten.scatter_reduce(empty(100, 64), 0, empty(10, 32, dtype=long), empty(20, 64), "mean")
    for shape, dtype in itertools.product([(100, 64), (4096, 768)], (full, low)):
        for mask in (shape, shape[1:], (shape[0], 1)):
            yield lambda s=shape, m=mask, t=dtype: aten.masked_scatter_backward(empty(*s, dtype=t), empty(*m, dtype=flag), [s[0] * s[1]])
    for shape, count, dtype in itertools.product([(1000,), (4096, 768), (4, 5, 6)], (0, 1, 100, 5000), (full, flag)):
        yield lambda s=shape, n=count, t=dtype: aten.nonzero_static(empty(*s, dtype=t), size=n)
    yield lambda: aten.nonzero_static(empty(64, 100).t(), size=10)
    for shape, dim, size, step in itertools.product([(100,), (64, 100), (4, 5, 64)], (0, -1), (3, 4), (1, 2, 4)):
        def windows(s=shape, d=dim, n=size, p=step):
            y = empty(*s).requires_grad_().unfold(d, n, p)
            y.backward(empty(*y.shape))

        yield windows


def segments():
    for dtype, axis, size, count in itertools.product((full, low), (0, 1), (100, 5000), (10, 2000)):
        def segment(t=dtype, a=axis, n=size, m=count):
            lead = (4,) * a
            ends = [{"lengths": empty(*lead, m, dtype=long)}, {"offsets": empty(*lead, m + 1, dtype=long)}]
            for trail, given, expanded in itertools.product(((), (8,)), ends, (False, True)):
                y = torch.segment_reduce(empty(*lead, n, *trail, dtype=t).requires_grad_(), "mean", axis=a, unsafe=True, **given)
                y.backward(empty(1, dtype=t).expand(y.shape) if expanded else empty(*y.shape, dtype=t))

        yield segment
    yield lambda: torch.segment_reduce(empty(8, 100).t(), "sum", lengths=empty(10, dtype=long), unsafe=True)
    for dtype, dim, chunks in itertools.product((full, low), (0, 1), (2, 5, 32)):
        for shapes in ([(64, 32)] * 2, [(63, 32), (17, 32)], [(1000, 32)] * 40, [(1000, 5)] * 3 + [(1000, 32)], [(4096, 4096)] * 4):
            if dim == 0 or len({shape[0] for shape in shapes}) == 1:
                yield lambda t=dtype, d=dim, n=chunks, s=shapes: torch._chunk_cat([empty(*shape, dtype=t) for shape in s], d, n)


def embeddings():
    for count, rows, width, dtype, index in itertools.product((3500, 5000, 20000), (1, 100, 166, 167, 527, 528, 1000), (8, 1500), (full, low), (long, word)):
        yield lambda n=count, r=rows, w=width, t=dtype, i=index: aten.embedding_dense_backward(empty(n, w, dtype=t), empty(n, dtype=i), r, -1, False)
    for scaled, dtype in itertools.product((False, True), (full, double)):
        yield lambda s=scaled, t=dtype: aten.embedding_dense_backward(empty(5000, 8, dtype=t), empty(5000, dtype=long), 100, -1, s)
    for rows, count in itertools.product((2, 1000), (512, 1024)):
        indices = lambda n=count: empty(1, n, dtype=long).expand(8, n)  # noqa: E731
        yield lambda r=rows, i=indices: aten.embedding(empty(r, 64), i())
        yield lambda r=rows, i=indices, n=count: aten.embedding_dense_backward(empty(8, n, 64), i(), r, -1, False)
    modes = ("sum", "mean", "max")
    for mode, count, rows, dtype, scaled in itertools.product(modes, (100, 5000, 100000), (100, 1000, 200000), (full, half), (False, True)):
        def bags(m=mode, n=count, r=rows, t=dtype, s=scaled):
            weight = empty(r, 64, dtype=t).requires_grad_()
            y = torch.nn.functional.embedding_bag(empty(n, dtype=long), weight, empty(10, dtype=long), mode=m, scale_grad_by_freq=s and m != "max")
            y.backward(empty(10, 64, dtype=t) if s else empty(1, dtype=t).expand(10, 64))

        yield bags
