"""LSTM, GRU and RNN of cuDNN: forward in training and inference, and the backward."""
import itertools

from kernels.families.common import BYTES, torch_dtype

# length, batch, width in, hidden, layers, directions
SIZES = [(64, 64, 1024, 1024, 1, 1), (16, 64, 1024, 1024, 1, 1), (256, 64, 1024, 1024, 1, 1),
         (64, 1, 1024, 1024, 1, 1), (64, 8, 1024, 1024, 1, 1), (64, 256, 1024, 1024, 1, 1),
         (64, 64, 128, 1024, 1, 1), (64, 64, 1024, 128, 1, 1), (64, 64, 256, 256, 1, 1),
         (64, 64, 512, 512, 1, 1), (64, 64, 2048, 2048, 1, 1), (64, 64, 1024, 1024, 2, 1),
         (64, 64, 1024, 1024, 3, 1), (64, 64, 1024, 1024, 1, 2), (64, 64, 512, 512, 2, 2),
         (35, 20, 650, 650, 2, 1), (128, 32, 1024, 1024, 2, 1), (128, 32, 300, 512, 2, 2),
         (32, 128, 768, 768, 4, 1), (128, 16, 64, 100, 1, 1), (48, 512, 256, 256, 1, 2),
         (96, 4, 512, 1536, 1, 1)]
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DTYPES = ("tf32", "bfloat16", "float32", "float16")
RUNS = ("forward", "inference", "backward")


def numbers_of(kind, size):
    """Weights, and numbers of one layer's output."""
    length, batch, width, hidden, layers, directions = size
    gates, weights = GATES[kind] * hidden * directions, 0
    for layer in range(layers):
        weights += gates * ((width if layer == 0 else hidden * directions) + hidden + 2)
    return weights, length * batch * hidden * directions


def point(kind, size, dtype, run):
    length, batch = size[:2]
    weights, outputs = numbers_of(kind, size)
    flops = 2 * length * batch * weights * (2 if run == "backward" else 1)
    moved = (length * weights + 4 * size[4] * outputs) * BYTES[dtype]
    return f"{kind}_{run}", {"size": list(size), "dtype": dtype}, flops, moved


def points(small):
    """None in the first sweep."""
    return ()


def more_points(small):
    sizes = [(5, 2, 8, 16, 1, 1), (5, 2, 8, 16, 2, 2)] if small else SIZES
    for size, dtype, run in itertools.product(sizes, DTYPES[:2], RUNS):
        yield point("LSTM", size, dtype, run)
    for size, dtype, run in itertools.product(sizes[::3], DTYPES[2:], RUNS):
        yield point("LSTM", size, dtype, run)
    for kind, size, dtype, run in itertools.product(("GRU", "RNN"), sizes[::2], DTYPES[:2], RUNS):
        yield point(kind, size, dtype, run)


def call_of(kind, run):
    def build(parameters, device):
        import torch
        length, batch, width, hidden, layers, directions = parameters["size"]
        dtype = torch_dtype(parameters["dtype"])
        layer = getattr(torch.nn, kind)(width, hidden, layers, bidirectional=directions == 2,
                                        device=device, dtype=dtype)
        layer.train(run != "inference")
        x = torch.randn(length, batch, width, device=device, dtype=dtype,
                        requires_grad=run != "inference")
        if run == "inference":
            return torch.no_grad()(lambda: layer(x)[0])
        if run == "forward":
            return lambda: layer(x)[0]
        out = layer(x)[0]
        inputs, gradient = (x, *layer.parameters()), torch.randn_like(out)
        return lambda: torch.autograd.grad(out, inputs, gradient, retain_graph=True)
    return build


OPERATIONS = {f"{kind}_{run}": call_of(kind, run) for kind in GATES for run in RUNS}
