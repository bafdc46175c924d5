"""Recurrent layers: cuDNN's reserves and workspaces."""
import functools
import itertools

import torch
from torch import nn

from .measuring import grid, measured_rows


def probe_recurrent(small, device):
    sizes = [(8, 2, 16, 16)] if small else [(128, 32, 1024, 1024), (35, 20, 650, 650), (512, 8, 256, 512)]

    def recurrent(kind, dtype, size, layers, bidirectional, dropout, batch_first, run):
        length, batch, width, hidden = size
        dtype = getattr(torch, dtype)
        layer = getattr(nn, kind)(width, hidden, layers, dropout=dropout, bidirectional=bidirectional,
                                  batch_first=batch_first, device=device, dtype=dtype)
        layer.train(run != "inference")
        shape = (batch, length, width) if batch_first else (length, batch, width)
        x = torch.randn(shape, device=device, dtype=dtype, requires_grad=run != "inference")

        def call():
            with torch.set_grad_enabled(run != "inference"):
                out, state = layer(x)
            if run != "forward and backward":
                return out, state
            return torch.autograd.grad(out, (x, *layer.parameters()), torch.ones_like(out))

        return call

    axes = (s for s in grid(kind=("LSTM", "GRU", "RNN"), dtype=("float32", "bfloat16"), size=sizes, layers=(1, 2),
                            bidirectional=(False, True), dropout=(0.0, 0.5), batch_first=(False, True),
                            run=("inference", "forward", "forward and backward"))
            if s["layers"] > 1 or not (s["dropout"] or s["batch_first"]))
    return measured_rows(device, ((s, functools.partial(recurrent, **s)) for s in axes))


def probe_recurrent_sizes(small, device):
    """One size after the other is varied: what cuDNN's workspaces depend on. length, batch, width in, hidden."""
    base = (16, 4, 32, 48) if small else (64, 32, 512, 768)
    sizes = [base] + ([] if small else [
        (1, 32, 512, 768), (7, 32, 512, 768), (128, 32, 512, 768), (300, 32, 512, 768), (64, 1, 512, 768),
        (64, 5, 512, 768), (64, 64, 512, 768), (64, 200, 512, 768), (64, 32, 64, 768), (64, 32, 2048, 768),
        (64, 32, 300, 768), (64, 32, 512, 128), (64, 32, 512, 500), (64, 32, 512, 1536), (20, 3, 17, 31)])
    forms = ((1, False), (3, False), (1, True), (2, True))

    def recurrent(kind, dtype, size, layers, bidirectional, run):
        length, batch, width, hidden = size
        dtype = getattr(torch, dtype)
        layer = getattr(nn, kind)(width, hidden, layers, bidirectional=bidirectional, device=device, dtype=dtype)
        layer.train(run != "inference")
        x = torch.randn(length, batch, width, device=device, dtype=dtype, requires_grad=run != "inference")

        def call():
            with torch.set_grad_enabled(run != "inference"):
                return layer(x)

        return call

    axes = [{"kind": kind, "dtype": dtype, "size": size, "layers": layers, "bidirectional": both, "run": run}
            for kind, dtype, size, (layers, both), run in itertools.product(
                ("LSTM", "GRU", "RNN"), ("float32", "bfloat16"), sizes, forms, ("inference", "forward"))
            if size == base or layers + both != 2]
    return measured_rows(device, ((s, functools.partial(recurrent, **s)) for s in axes))
