"""Calls of attention: what they take, and which kernel PyTorch chooses."""
import functools

import torch
from torch.nn import functional

from ..calls import BACKENDS
from .measuring import grid, measured_rows


def attention_call(device, backend, dtype, head_size, heads, kv_heads, length, causal, masked, dropout, backward):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    kinds = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION"}
    q, k, v = (torch.randn(2, h, length, head_size, device=device, dtype=getattr(torch, dtype), requires_grad=True)
               for h in (heads, kv_heads, kv_heads))
    mask = torch.zeros(2, 1, length, length, device=device, dtype=q.dtype) if masked else None

    def forward():
        with sdpa_kernel(getattr(SDPBackend, kinds[backend])):
            return functional.scaled_dot_product_attention(
                q, k, v, mask, dropout, causal, enable_gqa=kv_heads != heads)

    def both():
        out = forward()
        return torch.autograd.grad(out, (q, k, v), torch.ones_like(out))

    return both if backward else forward


def probe_attention_scratch(small, device):
    lengths = (32, 96) if small else (128, 500, 1024, 4096)
    sizes = (32, 64) if small else (32, 64, 72, 80, 96, 128, 160, 256)
    return attention_scratch(device, ("efficient", "flash"), sizes, lengths)


def probe_attention_scratch_cudnn(small, device):
    """Few sizes: cuDNN compiles a kernel for each, which takes a second."""
    return attention_scratch(device, ("cudnn",), (32, 64) if small else (64, 128), (32, 96) if small else (500, 1024))


def attention_scratch(device, backends, sizes, lengths):
    axes = [s for s in grid(backend=backends, dtype=("bfloat16", "float32"),
                            head_size=sizes, heads=(8,), kv_heads=(8, 2), length=lengths,
                            causal=(False, True), masked=(False, True), dropout=(0.0, 0.1), backward=(False, True))
            if not (s["causal"] and s["masked"]) and (s["dtype"] == "bfloat16" or s["backend"] == "efficient")
            and not (s["kv_heads"] != s["heads"] and (s["masked"] or s["dropout"] or s["backend"] == "efficient"))
            and not (s["masked"] and s["backend"] == "flash") and not (s["dropout"] and s["causal"])]
    return measured_rows(device, ((s, functools.partial(attention_call, device, **s)) for s in axes))


CHOICE_AXES = {
    "dtype": ("float32", "bfloat16", "float16"),
    "head_size": (16, 20, 36, 64, 72, 80, 96, 128, 132, 160, 192, 256, 264),
    "heads": ((8, 8), (8, 2), (8, 1)),
    "lengths": ((1, 1), (1, 128), (128, 1), (128, 128), (127, 127), (128, 256), (2048, 2048)),
    "mask": ("none", "causal", "bool", "float", "float 2-D", "float per head", "float with grad"),
    "dropout": (0.0, 0.1, 0.5),
    "requires_grad": (False, True),
    "layout": ("BHSD", "BSHD"),
}


def choice(device, dtype, head_size, heads, lengths, mask, dropout, requires_grad, layout):
    dtype = getattr(torch, dtype)

    def made(count, length):
        if layout == "BSHD":
            return torch.empty(2, length, count, head_size, device=device, dtype=dtype).transpose(1, 2)
        return torch.empty(2, count, length, head_size, device=device, dtype=dtype)

    q, k, v = made(heads[0], lengths[0]), made(heads[1], lengths[1]), made(heads[1], lengths[1])
    shapes = {"bool": (2, 1, *lengths), "float": (2, 1, *lengths), "float 2-D": lengths,
              "float per head": (2, heads[0], *lengths), "float with grad": (2, 1, *lengths)}
    given = None
    if mask in shapes:
        given = torch.empty(shapes[mask], device=device, dtype=torch.bool if mask == "bool" else dtype)
        given.requires_grad_(mask == "float with grad")
    for tensor in (q, k, v):
        tensor.requires_grad_(requires_grad)
    return int(torch._fused_sdp_choice(q, k, v, given, dropout, mask == "causal", enable_gqa=heads[0] != heads[1]))


def probe_attention_choice(small, device):
    """One letter per point of the grid, the last axis running fastest."""
    axes = dict(CHOICE_AXES)
    if small:
        axes |= {"head_size": (20, 64), "lengths": ((1, 128), (128, 128))}
    letters = {"error": "x", **{name: name[0] for name in BACKENDS.values() if name != "error"}}

    def letter(point):
        try:
            return letters[BACKENDS[choice(device, **point)]]
        except RuntimeError:
            return "x"

    return {"axes": axes, "letters": letters, "choices": "".join(letter(p) for p in grid(**axes))}
