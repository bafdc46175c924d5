"""Products, attention, convolution, pooling, lists of tensors."""
import functools
import itertools

import torch

from tensors import aten, empty, flag, full, half, low


def lists():
    for dtype, sizes in itertools.product((full, low), ([(10,)] * 3, [(768, 768)] * 4, [(4096, 1024), (1024,), (70000, 10)], [(64,)] * 40, [(65536,)] * 2, [(65537,)])):
        def several(t=dtype, s=sizes):
            a, b, c = ([empty(*shape, dtype=t) for shape in s] for _ in range(3))
            counts = [torch.zeros((), device="cuda") for _ in s]
            for function in (torch._foreach_norm, torch._foreach_sqrt, torch._foreach_neg, torch._foreach_max):
                function(a)
            torch._foreach_norm(a, 1)
            torch._foreach_norm(a, float("inf"))
            torch._foreach_mul(a, 2.0)
            torch._foreach_mul_(a, b)
            torch._foreach_mul_(a, torch.ones((), device="cuda"))
            torch._foreach_add_(a, b, alpha=2)
            torch._foreach_addcdiv_(a, b, c, -0.1)
            torch._foreach_addcdiv_(a, b, c, [0.1] * len(a))
            torch._foreach_addcmul_(a, b, c, 0.1)
            torch._foreach_lerp_(a, b, 0.1)
            torch._foreach_div_(a, [2.0] * len(a))
            torch._foreach_pow(0.9, counts)
            torch._foreach_copy_(a, b)
            torch._foreach_zero_(a)
            torch._foreach_maximum_(a, b)
            torch._foreach_sign(a)
            torch._foreach_clamp_max_(a, 1.0)
            torch._foreach_add_(counts, 1)
            torch._fused_adamw_(a, b, c, [torch.empty_like(x) for x in a], [], counts, lr=0.1, beta1=0.9, beta2=0.9, weight_decay=0.1, eps=1e-8, amsgrad=False, maximize=False)
            torch._fused_adam_(a, b, c, [torch.empty_like(x) for x in a], [], counts, lr=0.1, beta1=0.9, beta2=0.9, weight_decay=0.1, eps=1e-8, amsgrad=False, maximize=False)
            torch._fused_sgd_(a, b, c, weight_decay=0, momentum=0.9, lr=0.1, dampening=0, nesterov=False, maximize=False, is_first_step=True)
            if t == full:
                torch._amp_foreach_non_finite_check_and_unscale_(a, torch.zeros(1, device="cuda"), torch.ones(1, device="cuda"))
            torch.cat(a, 0) if len({x.shape[1:] for x in a}) == 1 else None
            torch.stack(a) if len({x.shape for x in a}) == 1 else None
            torch.nn.utils.get_total_norm(a)

        yield several
    yield lambda: torch.cat([empty(8, 64, 14, 14).contiguous(memory_format=torch.channels_last)] * 3, 1)
    yield lambda: torch.cat([empty(8, 64), empty(8, 64, dtype=low)], 1)
    yield lambda: torch.cat([empty(64, 8).t(), empty(8, 64)], 1)
    yield lambda: torch.cat([empty(0), empty(8, 64)], 0)
    yield lambda: torch._foreach_mul_([empty(8), empty(8, dtype=low)], [empty(8, dtype=low), empty(8)])


def products():
    for dtype in (full, low):
        def make(*shape, t=dtype):
            return empty(*shape, dtype=t)

        for function in (
            lambda m=make: m(512, 768) @ m(768, 1024), lambda m=make: m(512, 768) @ m(1024, 768).t(), lambda m=make: m(768, 512).t() @ m(768, 1024),
            lambda m=make: m(512, 1536)[:, ::2] @ m(768, 1024), lambda m=make: m(512, 770)[:, 1:769] @ m(768, 1024), lambda m=make: m(1, 768).expand(512, 768) @ m(768, 1024),
            lambda m=make: m(512, 1).expand(512, 768) @ m(768, 1024), lambda m=make: m(1).expand(512, 768) @ m(768, 1024), lambda m=make: m(768).expand(1024, 768) @ m(768, 1),
            lambda m=make: torch.addmm(m(1024), m(512, 768), m(768, 1024)), lambda m=make: torch.addmm(m(512, 1024), m(512, 768), m(768, 1024)), lambda m=make: torch.addmm(m(512, 1), m(512, 768), m(768, 1024)),
            lambda m=make: torch.addmm(m(1024), m(512, 1536)[:, ::2], m(1024, 768).t()), lambda m=make: torch.addmm(m(1024), m(512, 768), m(768, 1024), beta=0.5),
            lambda m=make: torch.bmm(m(8, 128, 64), m(8, 64, 128)), lambda m=make: torch.bmm(m(8, 128, 64), m(8, 128, 64).transpose(1, 2)), lambda m=make: torch.bmm(m(128, 8, 64).transpose(0, 1), m(128, 8, 64).permute(1, 2, 0)),
            lambda m=make: torch.bmm(m(8, 128, 128)[:, :, ::2], m(8, 64, 128)), lambda m=make: torch.bmm(m(1, 128, 64).expand(8, 128, 64), m(8, 64, 128)), lambda m=make: torch.bmm(m(8, 64, 128).permute(0, 2, 1), m(64, 8, 128).permute(1, 0, 2)),
            lambda m=make: torch.bmm(m(128, 64, 8).permute(2, 0, 1), m(8, 64, 128)), lambda m=make: torch.bmm(m(8, 1, 64).expand(8, 128, 64), m(8, 64, 128)),
            lambda m=make: torch.baddbmm(m(8, 128, 128), m(8, 128, 64), m(8, 64, 128)), lambda m=make: torch.baddbmm(m(1, 1, 128), m(8, 128, 64), m(8, 64, 128)), lambda m=make: torch.baddbmm(m(8, 1, 128), m(8, 128, 128)[:, :, ::2], m(8, 64, 128)),
            lambda m=make: torch.addbmm(m(128, 128), m(8, 128, 64), m(8, 64, 128)), lambda m=make: torch.mv(m(512, 768), m(768)), lambda m=make: torch.mv(m(512, 768), m(1536)[::2]), lambda m=make: torch.addmv(m(512), m(512, 768), m(768)),
            lambda m=make: torch.dot(m(768), m(768)), lambda m=make: torch.outer(m(768), m(768)), lambda m=make: torch.addr(m(768, 768), m(768), m(768)), lambda m=make: torch.einsum("bhid,bhjd->bhij", m(2, 4, 64, 32), m(2, 4, 64, 32)),
            lambda m=make: torch.cdist(m(100, 64), m(200, 64)), lambda m=make: torch.ops.aten._addmm_activation(m(1024), m(512, 768), m(768, 1024)), lambda m=make: m(2, 4, 8) @ m(8), lambda m=make: torch.bmm(m(8, 128, 0), m(8, 0, 128)),
        ):
            yield function


def groups():
    for count, rows, inner, outer, dtype in itertools.product((8, 64), (1024, 4096), (512,), (256,), (full, low)):
        def grouped(e=count, m=rows, k=inner, n=outer, t=dtype):
            offsets = empty(e, dtype=torch.int32)
            torch._grouped_mm(empty(m, k, dtype=t), empty(e, k, n, dtype=t), offs=offsets)
            torch._grouped_mm(empty(m, k, dtype=t), empty(e, n, k, dtype=t).transpose(1, 2), offs=offsets)
            torch._grouped_mm(empty(m, k, dtype=t).t(), empty(m, n, dtype=t), offs=offsets)

        yield grouped
    for dtype, bins in itertools.product((full, torch.int32), (8, 100000)):
        yield lambda t=dtype, n=bins: empty(8192, dtype=t).histc(n, 0, 7)


def masked_softmax():
    for dtype, (batch, heads, queries, keys) in itertools.product(
            (full, low), ((2, 4, 64, 64), (1, 1, 64, 64), (2, 2, 1024, 1024), (2, 2, 2048, 2048))):
        def masked(n=batch, h=heads, q=queries, k=keys, t=dtype):
            masks = {0: (q, k), 2: (n, h, q, k)} | ({1: (n, k)} if h % 2 == 0 else {})  # It wants them even.
            for kind, sizes in masks.items():
                aten._masked_softmax(empty(n, h, q, k, dtype=t), empty(*sizes, dtype=flag), 3, kind)
        yield masked


def attentions():
    for batch, heads, length, keys, width, dtype in [
            (2, 8, 1024, 1024, 64, low), (16, 12, 512, 512, 64, low), (1, 8, 1, 8192, 64, low), (1, 32, 128, 128, 128, low), (1, 32, 4096, 4096, 128, low),
            (2, 8, 300, 300, 80, low), (2, 4, 77, 100, 40, half), (1, 2, 2048, 2048, 256, low), (4, 16, 197, 197, 96, low), (2, 3, 50, 50, 32, half), (1, 5, 4096, 77, 64, half),
            (3, 4, 17, 1000, 192, low), (8, 12, 128, 128, 64, full), (2, 8, 1024, 1024, 64, full), (2, 4, 64, 64, 128, full), (1, 4, 100, 100, 72, full), (2, 4, 128, 128, 160, full), (1, 2, 512, 512, 256, full)]:
        for layout, dropout, causal in itertools.product(("heads first", "heads last"), (0.0, 0.1), (False, True)):
            def make(count, size, n=batch, w=width, t=dtype, o=layout):
                return empty(n, count, size, w, dtype=t) if o == "heads first" else empty(n, size, count, w, dtype=t).transpose(1, 2)

            def flash(m=make, h=heads, s=length, k=keys, p=dropout, c=causal, g=1):
                query, key, value = m(h, s), m(h // g, k), m(h // g, k)
                made = aten._scaled_dot_product_flash_attention(query, key, value, p, c)
                gradient = torch.empty_like(made[0])
                for grad in (gradient, torch.empty(gradient.shape, device="cuda", dtype=gradient.dtype)):
                    aten._scaled_dot_product_flash_attention_backward(grad, query, key, value, made[0], made[1], made[2], made[3], s, k, p, c, made[6], made[7])

            def efficient(m=make, h=heads, s=length, k=keys, p=dropout, c=causal, bias=None):
                query, key, value = m(h, s), m(h, k), m(h, k)
                mask = None if bias is None else empty(*bias, s, (k + 15) // 16 * 16, dtype=query.dtype)[..., :k].expand(query.shape[0], h, s, k)
                made = aten._scaled_dot_product_efficient_attention(query, key, value, mask, True, p, c)
                for grad in (torch.empty_like(made[0]), torch.empty(made[0].shape, device="cuda", dtype=query.dtype)):
                    aten._scaled_dot_product_efficient_attention_backward(grad, query, key, value, mask, made[0], made[1], made[2], made[3], p, [True, True, True, False], c)

            if dtype != full and not (causal and length != keys):
                yield flash
                if heads % 4 == 0 and dropout == 0:
                    yield functools.partial(flash, g=4)
            if not causal or dropout == 0:
                yield efficient
            if dropout == 0 and not causal:
                yield functools.partial(efficient, bias=(1, 1))


def resampling():
    functional = torch.nn.functional
    plane = {
        "max_pool2d": lambda x: functional.max_pool2d(x, 3, 2, 1), "avg_pool2d": lambda x: functional.avg_pool2d(x, 2),
        "adaptive_avg_pool2d": lambda x: functional.adaptive_avg_pool2d(x, 7), "adaptive_max_pool2d": lambda x: functional.adaptive_max_pool2d(x, 7),
        "nearest": lambda x: functional.interpolate(x, scale_factor=2), "exact": lambda x: functional.interpolate(x, scale_factor=2, mode="nearest-exact"),
        "bilinear": lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"), "bicubic": lambda x: functional.interpolate(x, scale_factor=2, mode="bicubic"),
        "antialias": lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear", antialias=True), "reflect": lambda x: functional.pad(x, (1, 1, 1, 1), "reflect"),
        "replicate": lambda x: functional.pad(x, (1, 1, 1, 1), "replicate"), "circular": lambda x: functional.pad(x, (1, 1, 1, 1), "circular"),
        "unfold": lambda x: functional.unfold(x, 3), "pixel_shuffle": lambda x: functional.pixel_shuffle(x, 2), "roll": lambda x: x.roll((1, 1), (2, 3)), "flip": lambda x: x.flip(2),
        "global": lambda x: functional.adaptive_avg_pool2d(x, 1), "grid": lambda x: aten.grid_sampler_2d(x, empty(x.shape[0], 8, 8, 2, dtype=x.dtype), 0, 0, False)}
    last = torch.channels_last
    for (name, function), dtype, of_input, of_gradient in itertools.product(plane.items(), (full, low), (None, last), ("rows", "channels last", "expanded", "turned")):
        def run(f=function, t=dtype, i=of_input, g=of_gradient):
            x = empty(4, 16, 28, 28, dtype=t)
            x = (x if i is None else x.contiguous(memory_format=i)).requires_grad_()
            y = f(x)
            gradient = {"rows": lambda: empty(*y.shape, dtype=t), "expanded": lambda: empty(1, dtype=t).expand(y.shape),
                        "channels last": lambda: empty(*y.shape, dtype=t).contiguous(memory_format=last) if y.dim() == 4 else empty(*y.shape, dtype=t),
                        "turned": lambda: empty(*reversed(y.shape), dtype=t).permute(*range(y.dim() - 1, -1, -1))}[g]()
            y.backward(gradient)

        yield run
    volume = [lambda x: functional.max_pool3d(x, 2), lambda x: functional.avg_pool3d(x, 2), lambda x: functional.adaptive_avg_pool3d(x, 3), lambda x: functional.adaptive_max_pool3d(x, 3),
              lambda x: functional.interpolate(x, scale_factor=2), lambda x: functional.interpolate(x, scale_factor=2, mode="trilinear"), lambda x: functional.pad(x, (1, 1) * 3, "replicate")]
    line = [lambda x: functional.interpolate(x, scale_factor=2), lambda x: functional.interpolate(x, scale_factor=2, mode="linear"), lambda x: functional.pad(x, (1, 1), "reflect"),
            lambda x: functional.pad(x, (1, 1), "replicate"), lambda x: functional.max_pool1d(x, 2), lambda x: functional.avg_pool1d(x, 2), lambda x: functional.adaptive_avg_pool1d(x, 3)]
    for function, shape, expanded in [(f, s, e) for fs, s in ((volume, (2, 8, 8, 8, 8)), (line, (2, 8, 64))) for f in fs for e in (False, True)]:
        def run_shape(f=function, s=shape, e=expanded):
            y = f(empty(*s).requires_grad_())
            y.backward(empty(1).expand(y.shape) if e else empty(*y.shape))

        yield run_shape


def depthwise():
    """Where cuDNN is there, PyTorch still takes its own kernels for these."""
    for shape, multiplier, kernel, stride, bias, dtype in itertools.product([(8, 32, 56, 56), (2, 96, 14, 14)], (1, 2), (3, 7), (1, 2), (False, True), (full, low)):
        def run(s=shape, m=multiplier, k=kernel, d=stride, b=bias, t=dtype):
            with torch.backends.cudnn.flags(enabled=False):
                x, weight = empty(*s, dtype=t).requires_grad_(), empty(m * s[1], 1, k, k, dtype=t).requires_grad_()
                offset = empty(m * s[1], dtype=t).requires_grad_() if b else None
                y = torch.nn.functional.conv2d(x, weight, offset, d, k // 2, groups=s[1])
                for gradient in (empty(*y.shape, dtype=t), empty(*y.shape, dtype=t).contiguous(memory_format=torch.channels_last)):
                    y.backward(gradient, retain_graph=True)

        yield run
    for dtype in (full, low):
        def volume(t=dtype):
            with torch.backends.cudnn.flags(enabled=False):
                y = torch.nn.functional.conv3d(empty(2, 8, 6, 6, 6, dtype=t).requires_grad_(), empty(8, 1, 3, 3, 3, dtype=t).requires_grad_(), groups=8)
                y.backward(empty(*y.shape, dtype=t))

        def line(t=dtype):
            with torch.backends.cudnn.flags(enabled=False):
                y = torch.nn.functional.conv1d(empty(2, 8, 60, dtype=t).requires_grad_(), empty(8, 1, 3, dtype=t).requires_grad_(), groups=8)
                y.backward(empty(*y.shape, dtype=t))

        def turned(t=dtype):
            with torch.backends.cudnn.flags(enabled=False):
                torch.nn.functional.conv1d(empty(2, 100, 64, dtype=t).transpose(1, 2), empty(64, 1, 4, dtype=t), empty(64, dtype=t), padding=3, groups=64)

        yield volume
        yield line
        yield turned
