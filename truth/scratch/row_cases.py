"""Reductions, softmax, normalizations, losses."""
import functools
import itertools

import torch

from tensors import aten, double, empty, flag, full, half, long, low


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
                 lambda x: x.argmin(), lambda x: x.var(0), lambda x: x.var(), lambda x: x.std(-1), lambda x: torch.var_mean(x, (0,)), 
                 lambda x: torch.linalg.vector_norm(x), lambda x: torch.linalg.vector_norm(x, 1, 0), lambda x: x.norm(), lambda x: x.norm(2, 0),
                 lambda x: x[0, 0].any() if x.dim() > 1 else x.any(), lambda x: x.any(), lambda x: x.all(), lambda x: x.any(0), lambda x: x.all(0), lambda x: x.aminmax(), lambda x: x.sum(dtype=full),
                 lambda x: x.logsumexp(0), lambda x: x.logsumexp(-1), lambda x: x.nansum(), lambda x: x.sum(0, dtype=full), lambda x: x.mean(0, dtype=full)]
    for function, dtype, shape in itertools.product(functions, (full, low, half), [(4096, 768), (100, 200000), (10, 10), (3000000,)]):
        yield lambda f=function, t=dtype, s=shape: f(empty(*s, dtype=t))
    for dtype, shape in itertools.product((long, flag, torch.int32, torch.uint8, double), [(4096, 768), (64, 512), (3000000,)]):
        for function in (torch.sum, torch.any, torch.all, torch.max, torch.count_nonzero):
            yield lambda f=function, t=dtype, s=shape: f(empty(*s, dtype=t))
    yield lambda: empty(4096, 768, dtype=flag).sum(0)
    # Tensors that do not lie row by row.
    layouts = (lambda: empty(1000, 2000).t(), lambda: empty(100, 50, 20, dtype=low).transpose(0, 1), lambda: empty(1000, 2000)[:, ::2], lambda: empty(1, 2000, dtype=low).expand(100, 2000))
    of_layout = [lambda x: x.max(), lambda x: x.min(), lambda x: x.aminmax(), lambda x: torch.aminmax(x, dim=0), lambda x: x.amax(), lambda x: x.amax(0), lambda x: x.argmax(), lambda x: x.argmin(),
                 lambda x: x.argmax(0), lambda x: x.max(0), lambda x: x.sum(), lambda x: x.mean(0), lambda x: x.var(), lambda x: x.any(), lambda x: x.logsumexp(0), lambda x: x.norm(), lambda x: x.prod(),
                 lambda x: x.cumsum(0), lambda x: x.count_nonzero(), lambda x: x.sort(), lambda x: x.topk(2), lambda x: x.cummax(0), lambda x: x.cummin(-1), lambda x: x.nansum()]
    for function, layout in itertools.product(of_layout, layouts):
        yield lambda f=function, x=layout: f(x())
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


def softmaxes():
    for shape, dim, dtype in itertools.product([(4096, 50257), (8, 12, 512, 512), (64, 10)], (-1, 0), (full, low)):
        yield lambda s=shape, d=dim, t=dtype: empty(*s, dtype=t).softmax(d)
        yield lambda s=shape, d=dim, t=dtype: empty(*s, dtype=t).log_softmax(d)
        yield lambda s=shape, d=dim, t=dtype: aten._softmax_backward_data(empty(*s, dtype=t), empty(*s, dtype=t), d, t)
        yield lambda s=shape, d=dim, t=dtype: aten._log_softmax_backward_data(empty(*s, dtype=t), empty(*s, dtype=t), d, t)
    for turned in (0, 1, 2):
        def backward(which=turned, m=aten):
            a, b = (empty(8, 512, 512).transpose(0, 1) if which in (i, 2) else empty(512, 8, 512) for i in (0, 1))
            m._softmax_backward_data(a, b, -1, full)
            m._log_softmax_backward_data(a, b, -1, full)

        yield backward
    for shape in ((4096, 512), (7,)):
        yield lambda s=shape: 2 ** empty(*s)
        yield lambda s=shape: 2.5 ** empty(*s, dtype=low)
        yield lambda s=shape: empty(*s) ** 2
        yield lambda s=shape: empty(*s) ** empty(*s)
        yield lambda s=shape: empty(*s, dtype=low).isinf()
        yield lambda s=shape: empty(*s).isnan()
        yield lambda s=shape: empty(*s, dtype=long).isinf()
    yield lambda: aten._safe_softmax(empty(8, 12, 512, 512), -1)
    yield lambda: empty(512, 8, 512).transpose(0, 1).softmax(-1)
    yield lambda: empty(512, 8, 512, dtype=half).softmax(-1, dtype=full)


def normalizations():
    everything = [True, True, True]
    for rows, width, dtype in itertools.product((1, 100, 512, 4096, 65537, 200000), (1, 32, 96, 192, 256, 768, 1000, 2048, 4096, 5120), (full, low)):
        if rows * width > 1 << 28:
            continue

        def backward(r=rows, w=width, t=dtype):
            x, scale, statistics = empty(r, w, dtype=t), empty(w, dtype=t), empty(r, 1)
            aten.native_layer_norm_backward(empty(r, w, dtype=t), x, [w], statistics, statistics, scale, scale, everything)
            aten._fused_rms_norm_backward(empty(r, w, dtype=t), x, [w], statistics, scale, [True, True])

        yield backward
    for wanted in ([True, False, False], [True, True, False], [False, True, True]):
        yield lambda m=wanted: aten.native_layer_norm_backward(
            empty(70000, 192), empty(70000, 192), [192], empty(70000, 1), empty(70000, 1), empty(192), empty(192), m)
    transposed = functools.partial(lambda t: empty(192, 70000, dtype=t).t())
    yield lambda: aten.native_layer_norm(transposed(full), [192], empty(192), empty(192), 1e-5)
    yield lambda: aten.native_layer_norm_backward(transposed(full), transposed(full), [192], empty(70000, 1), empty(70000, 1), empty(192), empty(192), everything)
    for dtype in (full, low):
        yield lambda t=dtype: aten.native_layer_norm(empty(64, 192, dtype=t), [192], empty(192, dtype=t), empty(192, dtype=t), 1e-5)
        yield lambda t=dtype: aten._fused_rms_norm(empty(64, 192, dtype=t), [192], empty(192, dtype=t), 1e-5)
        for n, c, hw, groups in [(8, 64, 1024, 32), (2, 320, 4096, 32), (256, 64, 49, 32), (1, 6, 4, 3), (16, 1280, 64, 32), (300, 64, 2000, 8), (4, 32, 1, 4)]:
            def group(n=n, c=c, hw=hw, g=groups, t=dtype):
                x, scale = empty(n, c, hw, 1, dtype=t), empty(c, dtype=t)
                _, mean, rstd = aten.native_group_norm(x, scale, scale, n, c, hw, g, 1e-5)
                aten.native_group_norm_backward(x, x, mean, rstd, scale, n, c, hw, g, everything)

            yield group
        for shape, layout in itertools.product([(64, 100), (32, 64, 56, 56), (8, 256, 14, 14), (4, 3, 7), (256, 512, 7, 7), (2, 16, 200, 200)], (False, True)):
            def batch(s=shape, channels_last=layout, t=dtype):
                x, scale = empty(*s, dtype=t), empty(s[1])
                if channels_last:
                    if x.dim() != 4:
                        return
                    x = x.contiguous(memory_format=torch.channels_last)
                for train in (True, False):
                    _, mean, invstd = aten.native_batch_norm(x, scale, scale, scale, scale, train, 0.1, 1e-5)
                    aten.native_batch_norm_backward(x, x, scale, scale, scale, mean, invstd, train, 1e-5, everything)
                aten.native_batch_norm_backward(x, x, scale, scale, scale, mean, invstd, True, 1e-5, [True, False, False])
                if channels_last:
                    aten.native_batch_norm_backward(empty(*s, dtype=t), x, scale, scale, scale, mean, invstd, True, 1e-5, everything)
                    aten.native_batch_norm_backward(x, empty(*s, dtype=t), scale, scale, scale, mean, invstd, True, 1e-5, everything)

            yield batch


def losses():
    functional = torch.nn.functional
    for rows, classes, dtype in itertools.product((8, 4096, 100000), (10, 1000), (full, low)):
        for options in ({}, {"label_smoothing": 0.1}, {"reduction": "none"}, {"reduction": "sum"}):
            def entropy(n=rows, c=classes, t=dtype, o=options):
                functional.cross_entropy(empty(n, c, dtype=t).requires_grad_(), empty(n, dtype=long), **o).sum().backward()

            yield entropy
    yield lambda: functional.cross_entropy(empty(4, 21, 64, 64).requires_grad_(), empty(4, 64, 64, dtype=long), weight=empty(21)).backward()
    pairs = (functional.mse_loss, functional.l1_loss, functional.smooth_l1_loss, functional.huber_loss, functional.kl_div, functional.binary_cross_entropy,
             functional.binary_cross_entropy_with_logits, functional.soft_margin_loss, functional.gaussian_nll_loss, functional.poisson_nll_loss)
    for loss, dtype, shape in itertools.product(pairs, (full, low), [(4096, 512), (100,)]):
        def pair(f=loss, t=dtype, s=shape):
            extra = (empty(*s, dtype=t),) if f is functional.gaussian_nll_loss else ()
            f(empty(*s, dtype=t).requires_grad_(), empty(*s, dtype=t), *extra).backward()

        yield pair
    yield lambda: functional.cosine_embedding_loss(empty(8, 64).requires_grad_(), empty(8, 64), empty(8)).backward()
    yield lambda: functional.multi_margin_loss(empty(8, 64).requires_grad_(), empty(8, dtype=long)).backward()
    yield lambda: functional.multilabel_margin_loss(empty(8, 64).requires_grad_(), empty(8, 64, dtype=long)).backward()
