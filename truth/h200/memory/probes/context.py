"""What CUDA's context, its libraries and their first uses take."""
import functools
import itertools

import torch
from torch import nn
from torch.nn import functional

from ..machine import driver_used_bytes, first_line
from .measuring import forward_and_backward, used_and_reserved
from ..steps import OPTIMIZERS


def attention_with(backend, device, dtype):
    """One attention through the given backend; an error text where it cannot run."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.randn(2, 4, 256, 64, device=device, dtype=dtype, requires_grad=True) for _ in range(3))
    with sdpa_kernel(getattr(SDPBackend, backend)):
        functional.scaled_dot_product_attention(q, k, v).sum().backward()


def context_steps(device):
    """First uses in order: what each adds to the device's memory is its kernels' modules."""
    low, full = torch.bfloat16, torch.float32

    def made(*shape, dtype=full):
        return torch.randn(*shape, device=device, dtype=dtype, requires_grad=True)

    def optimizer(name):
        parameter = torch.nn.Parameter(torch.ones(64, 64, device=device))
        parameter.grad = torch.ones_like(parameter)
        OPTIMIZERS[name]([parameter]).step()

    layer = functools.partial(nn.LSTM, 64, 64, device=device)
    return {
        "first tensor": lambda: torch.zeros(1, device=device),
        "elementwise": lambda: torch.ones(64, device=device) * 2 + 1,
        "random numbers": lambda: made(64),
        "product fp32": lambda: made(256, 256) @ made(256, 256),
        "product bf16": lambda: made(256, 256, dtype=low) @ made(256, 256, dtype=low),
        "product backward": lambda: (made(256, 256) @ made(256, 256)).sum().backward(),
        "linear with bias": lambda: functional.linear(made(64, 256), made(256, 256), made(256)),
        "convolution fp32": lambda: functional.conv2d(made(2, 8, 32, 32), made(8, 8, 3, 3)),
        "convolution backward": lambda: functional.conv2d(made(2, 8, 32, 32), made(8, 8, 3, 3)).sum().backward(),
        "convolution bf16": lambda: functional.conv2d(made(2, 8, 32, 32, dtype=low), made(8, 8, 3, 3, dtype=low)).sum().backward(),
        "batch norm": lambda: nn.BatchNorm2d(8, device=device)(made(2, 8, 32, 32)).sum().backward(),
        "attention math": lambda: attention_with("MATH", device, low),
        "attention efficient": lambda: attention_with("EFFICIENT_ATTENTION", device, full),
        "attention flash": lambda: attention_with("FLASH_ATTENTION", device, low),
        "attention cudnn": lambda: attention_with("CUDNN_ATTENTION", device, low),
        "layer norm": lambda: functional.layer_norm(made(64, 64), (64,)).sum().backward(),
        "softmax and loss": lambda: functional.cross_entropy(made(64, 64), torch.zeros(64, dtype=torch.int64, device=device)).backward(),
        "embedding backward": lambda: functional.embedding(torch.zeros(64, dtype=torch.int64, device=device), made(64, 64)).sum().backward(),
        "sort": lambda: made(10000).sort(),
        "lstm": lambda: forward_and_backward(layer(), made(8, 2, 64)),
        "adam single": lambda: optimizer("adam_single"),
        "adam foreach": lambda: optimizer("adam_foreach"),
        "adam fused": lambda: optimizer("adam_fused"),
    }


def probe_context(small, device):
    """Device memory after the bare context and after each first use."""
    rows = [{"name": "before the context", "driver_used_bytes": driver_used_bytes() if device.type == "cuda" else None}]
    if device.type == "cuda":
        torch.cuda.init()
    rows.append({"name": "context", **used_and_reserved(device)})
    for name, use in context_steps(device).items():
        error = None
        try:
            use()
        except RuntimeError as found:
            error = first_line(found)
        rows.append({"name": name, **used_and_reserved(device), "error": error})
    return rows


def probe_cublas(small, device):
    """The workspaces of the two handles: of the main thread and of the backward's thread."""

    def held():
        return torch.cuda.memory_allocated() if device.type == "cuda" else None

    def forward(kind, a, w, b):
        return functional.linear(a, w, b) if kind == "linear with bias" else a @ w

    rows = []
    for kind, dtype in itertools.product(("product", "linear with bias"), ("float32", "bfloat16")):
        a, w = (torch.randn(512, 512, device=device, dtype=getattr(torch, dtype), requires_grad=True) for _ in "aw")
        b = torch.randn(512, device=device, dtype=getattr(torch, dtype), requires_grad=True)
        for tensor in (a, w, b):
            tensor.grad = torch.zeros_like(tensor)  # so that the backward adds in place and keeps nothing
        if device.type == "cuda":
            torch._C._cuda_clearCublasWorkspaces()
        start = held()
        loss = forward(kind, a, w, b).sum()
        after_forward = held()
        loss.backward()
        after_backward = held()
        del loss
        after_drop = held()
        if device.type == "cuda":
            torch._C._cuda_clearCublasWorkspaces()
        rows.append({"kind": kind, "dtype": dtype, "allocated_bytes": {
            "before": start, "forward": after_forward, "backward": after_backward,
            "loss dropped": after_drop, "workspaces cleared": held()}})
    return rows
