"""Distances, losses of margins, pooling undone, batches, attention below scaled_dot_product_attention."""
import itertools

import torch

from tensors import aten, double, empty, full, half, long, low

functional = torch.nn.functional


def distances():
    pairs = [((100, 64), (200, 64)), ((3, 100, 64), (3, 200, 64)), ((3, 100, 64), (200, 64)), ((1, 64), (1000, 64)), ((1, 5, 64), (4, 5, 64)), ((4, 20, 8), (4, 20, 8)), ((0, 4), (5, 4)),
             ((3, 5), (7, 5)), ((4, 3000000), (40, 3000000)), ((100000, 3), (50, 3))]
    for (a, b), mode in itertools.product(pairs, (None, 0, 1, 2)):
        def distance(a=a, b=b, m=mode):
            y = aten._cdist_forward(empty(*a).requires_grad_(), empty(*b).requires_grad_(), 2.0, m)
            y.backward(empty(*y.shape).transpose(-1, -2).contiguous().transpose(-1, -2) if m else empty(*y.shape))

        yield distance
        yield lambda a=a, b=b: torch.cdist(empty(*a), empty(*b))
    yield lambda: aten._cdist_forward(empty(64, 100).t(), empty(200, 64), 2.0, None)
    yield lambda: aten._euclidean_dist(empty(100, 64, dtype=double), empty(200, 64, dtype=double))
    yield lambda: functional.pdist(empty(50, 8).requires_grad_()).backward(empty(1225))
    for dtype, (a, b) in itertools.product((full, low, double), [((100, 64), (100, 64)), ((100, 64), (64,)), ((2000000,), (2000000,)), ((3, 1), (1, 4))]):
        for p in (1, 2):
            yield lambda t=dtype, a=a, b=b, p=p: aten.dist(empty(*a, dtype=t), empty(*b, dtype=t), p)
        yield lambda t=dtype, a=a, b=b: aten.ldexp(empty(*a, dtype=t), empty(*b, dtype=t))
        yield lambda t=dtype, a=a, b=b: aten.ldexp(empty(*a, dtype=t), empty(*b, dtype=torch.int32))
    for dtype, shape, dim in itertools.product((full, low), [(100, 64), (4096, 768), (4, 5, 6)], (0, -1)):
        yield lambda t=dtype, s=shape, d=dim: aten.renorm(empty(*s, dtype=t), 2, d, 1.0)
        yield lambda t=dtype, s=shape, d=dim: aten.renorm_(empty(*s, dtype=t), 2, d, 1.0)


def margins():
    for (rows, classes), dtype, reduction, expanded in itertools.product([(8, 10), (4096, 1000), (3000000, 4)], (full, low), ("none", "mean", "sum"), (False, True)):
        def margin(n=rows, c=classes, t=dtype, r=reduction, e=expanded):
            for y in (functional.multi_margin_loss(empty(n, c, dtype=t).requires_grad_(), empty(n, dtype=long), reduction=r),
                      functional.multilabel_margin_loss(empty(n, c, dtype=t).requires_grad_(), empty(n, c, dtype=long), reduction=r)):
                y.backward(empty(dtype=t).expand(y.shape) if e else empty(*y.shape, dtype=t))

        yield margin
    yield lambda: functional.multi_margin_loss(empty(10).requires_grad_(), empty(dtype=long)).backward()
    lengths = [torch.full((16,), size, device="cuda") for size in (50, 30)]
    with_lists = [[50] * 16, [30] * 16]
    for given in (lengths, with_lists):
        yield lambda g=given: aten._ctc_loss(empty(50, 16, 20), empty(16, 30, dtype=long), *g)
        yield lambda g=given: aten._ctc_loss_backward(empty(16), empty(50, 16, 20), empty(16, 30, dtype=long), *g, empty(16), empty(16, 50, 61), 0)
    yield lambda: functional.multilabel_margin_loss(empty(10, 8).t().requires_grad_(), empty(10, 8, dtype=long).t()).backward()
    yield lambda: functional.multi_margin_loss(empty(10, 8).t().requires_grad_(), empty(8, dtype=long)).backward()


def unpooling():
    last = torch.channels_last
    for dtype, layout in itertools.product((full, low), (torch.contiguous_format, last)):
        def unpool(t=dtype, f=layout):
            x = empty(2, 3, 32, 32, dtype=t).contiguous(memory_format=f)
            y, places = functional.max_pool2d(x, 2, return_indices=True)
            for a, b in ((y, places), (y.contiguous(), places), (y.contiguous(memory_format=last), places.contiguous(memory_format=last))):
                aten.max_unpool2d(a, b, [32, 32])
            for expanded in (False, True):
                y = functional.fractional_max_pool2d(x.detach().requires_grad_(), 3, output_size=13)
                y.backward(empty(1, dtype=t).expand(y.shape) if expanded else empty(*y.shape, dtype=t))

        yield unpool


def batches():
    layouts = {
        "rows": lambda s, t: empty(*s, dtype=t), "channels last": lambda s, t: empty(*s, dtype=t).contiguous(memory_format={4: torch.channels_last, 5: torch.channels_last_3d}[len(s)]),
        "turned": lambda s, t: empty(*reversed(s), dtype=t).permute(*range(len(s) - 1, -1, -1))}
    shapes = [(64, 100), (32, 64, 56, 56), (8, 256, 14, 14), (4, 64, 6272), (4, 64, 8, 28, 28), (64, 32, 10, 10, 10), (1, 8)]
    for shape, dtype, (layout, make), training in itertools.product(shapes, (full, low, half), layouts.items(), (True, False)):
        def batch(s=shape, t=dtype, m=make, train=training):
            with torch.backends.cudnn.flags(enabled=False):
                x, scale = m(s, t), empty(s[1])
                calls = [(aten.native_batch_norm(x, scale, scale, scale, scale, train, 0.1, 1e-5), aten.native_batch_norm_backward, ())]
                if train:
                    made = aten._batch_norm_with_update(x, scale, scale, scale, scale, 0.1, 1e-5)
                    calls.append((made, aten.batch_norm_backward, made[3:]))
                for made, backward, reserve in calls:
                    for gradient in (empty(*s, dtype=t), torch.empty_like(x), empty(1, dtype=t).expand(s)):
                        backward(gradient, x, scale, scale, scale, made[1], made[2], train, 1e-5, [True, True, True], *reserve)

        if layout != "channels last" or len(shape) > 3:
            yield batch


def sequences():
    for n, heads, length, keys, width, dtype in [
            (2, 8, 1024, 1024, 64, low), (1, 8, 1, 8192, 64, low), (16, 12, 512, 512, 64, low), (8, 1, 3136, 49, 32, full), (1, 32, 128, 128, 128, low), (2, 8, 300, 300, 80, low), (2, 4, 77, 100, 40, half),
            (1, 2, 2048, 2048, 256, low), (4, 16, 197, 197, 96, low), (8, 12, 128, 128, 64, full), (2, 4, 64, 64, 128, full), (1, 2, 512, 512, 256, full)]:
        for turned, biased in ((False, False), (True, False), (False, True)):
            def efficient(n=n, h=heads, s=length, k=keys, w=width, t=dtype, is_turned=turned, is_biased=biased):
                query, key, value = empty(n, s, h, w, dtype=t), empty(n, k, h, w, dtype=t), empty(n, k, h, w, dtype=t)
                bias = empty(n, h, s, (k + 15) // 16 * 16, dtype=t)[..., :k] if is_biased else None
                made = aten._efficient_attention_forward(query, key, value, bias, None, None, None, None, 0.0, 0, True)
                gradient = empty(n, h, s, w, dtype=t).transpose(1, 2) if is_turned else torch.empty_like(made[0])
                aten._efficient_attention_backward(gradient, query, key, value, bias, made[0], None, None, s, k, made[1], 0.0, made[2], made[3], 0, is_biased)

            def flash(n=n, h=heads, s=length, k=keys, w=width, t=dtype, is_turned=turned):
                query, key, value = empty(n, s, h, w, dtype=t), empty(n, k, h, w, dtype=t), empty(n, k, h, w, dtype=t)
                made = aten._flash_attention_forward(query, key, value, None, None, s, k, 0.0, False, False)
                gradient = empty(n, h, s, w, dtype=t).transpose(1, 2) if is_turned else torch.empty_like(made[0])
                aten._flash_attention_backward(gradient, query, key, value, made[0], made[1], None, None, s, k, 0.0, False, made[2], made[3])

            yield efficient
            if dtype != full and not biased:
                yield flash
    for dtype in (full, low):
        def several(t=dtype):
            query, starts = empty(1, 600, 8, 64, dtype=t), torch.zeros(5, dtype=torch.int32, device="cuda")
            made = aten._efficient_attention_forward(query, query, query, None, starts, starts, 200, 200, 0.0, 0, True)
            aten._efficient_attention_backward(torch.empty_like(made[0]), query, query, query, None, made[0], starts, starts, 200, 200, made[1], 0.0, made[2], made[3], 0, False)

        yield several
