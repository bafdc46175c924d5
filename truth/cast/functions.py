"""Models whose casts stand in functions that no file of torch.export has lines of, and what PyTorch says of them built in
bf16, or run under autocast (functions.json); the files that export and trace them in fp32
(tests/zoo/foreign/functions_*).

    venv/bin/python truth/cast/functions.py
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent / "models")]
import make  # before torch: a device that is not there

import pt2_file
import pt_file
import torch
from torch import nn

FILES = HERE.parent.parent / "tests/zoo/foreign"


class States:
    """Keys of a cache, which begins empty (transformers' DynamicLayer)."""

    def update(self, keys):
        self.keys = torch.tensor([], dtype=keys.dtype, device=keys.device)
        self.keys = torch.cat([self.keys, keys], dim=-2)
        return self.keys


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        return self.query(x) @ States().update(self.key(x)).transpose(1, 2)


def rotate(x, cos, sin):
    dtype = x.dtype
    turned = (x.float() * cos) + (x.float().flip(-1) * sin)
    return turned.to(dtype)


class Rotary(nn.Module):
    """In float32 inside of a function that casts back (ESM)."""

    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(16, 16), nn.Linear(16, 16)
        self.register_buffer("table", torch.rand(8, 16))

    def forward(self, x):
        query, key = rotate(self.query(x), self.table, self.table), rotate(self.key(x), self.table, self.table)
        return query * query @ (key * key).transpose(1, 2)


def norm(x, weight):
    before = x
    x = x.float()
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return (weight.float() * x).type_as(before)


class Norm(nn.Module):
    """A weight that is cast, and a residual that is not (Cohere, RetNet)."""

    def __init__(self):
        super().__init__()
        self.weight, self.linear = nn.Parameter(torch.ones(16)), nn.Linear(16, 16)

    def forward(self, x):
        x = self.linear(x)
        return self.linear(x + norm(x, self.weight))


class Relative(nn.Module):
    def __init__(self):
        super().__init__()
        self.r = nn.Parameter(torch.rand(16, 16))

    def forward(self, x, table):
        return x + torch.einsum("td,de->te", table.type(self.r.dtype), self.r).sin()


def positions(tokens, width, device):
    return torch.arange(tokens, dtype=torch.float32, device=device)[:, None].expand(tokens, width).cos()


class Shared(nn.Module):
    """Each layer casts the one table (XLNet)."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Relative(), Relative()])

    def forward(self, x):
        table = positions(8, 16, x.device)
        for layer in self.layers:
            x = layer(x, table)
        return x


def encoded(x, bands):
    scales = torch.linspace(1.0, 10.0, bands, device=x.device, dtype=x.dtype)
    places = torch.arange(8, device=x.device).to(x.dtype)
    return torch.cat([x, (places[:, None] * scales).sin().expand(2, -1, -1)], dim=-1)


class Encoded(nn.Module):
    """What CUDA would refuse, had the linspace or the cast been float32 (Perceiver, Funnel)."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(32), nn.Linear(32, 16)

    def forward(self, x):
        return self.linear(self.norm(encoded(x, 16)))


@torch.autocast("cuda", enabled=False)
def product(x, y):
    return (x.float() @ y.float()).sin()


@torch.no_grad()
def target(linear, x):
    return linear(x).sin()


class Decorated(nn.Module):
    """Functions that decorators run without autocast, and without gradients."""

    def __init__(self):
        super().__init__()
        self.linear, self.other = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        y = self.linear(x)
        return product(y, y.transpose(1, 2)).sum() + (y - target(self.other, x)).pow(2).sum()


class Nested(nn.Module):
    """What CUDA would refuse stands in a module that can be checkpointed."""

    def __init__(self):
        super().__init__()
        self.inner = Encoded()

    def forward(self, x):
        return self.inner(x).sin()


class Listed(nn.Module):
    """Numbers that the code makes and reads."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        parts = torch.split(x, torch.arange(1, 4, device=x.device).tolist(), dim=1)
        return sum(self.linear(part).sum() for part in parts)


class Named(nn.Module):
    """Wrong in bf16: its line says float32."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(x.float())


def like(x):
    return {"device": x.device, "dtype": x.dtype}


def padded(x):
    return torch.cat([x, torch.zeros((2, 9, 1), **like(x))], dim=-1).sin()


class Padded(nn.Module):
    """New tensors in the dtype of another one, and in the default one (HaloNet)."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        y = self.linear(x)
        begin = torch.zeros(2, 1, 16, dtype=y.dtype, device=y.device)
        default = torch.zeros(2, 1, 16, device=y.device)
        named = torch.zeros(2, 1, 16, dtype=torch.float32, device=y.device)
        followed = padded(torch.cat([begin, y], dim=1).sin())
        full = torch.cat([default, y], dim=1).sin(), torch.cat([named, y], dim=1).sin()
        return followed.sum() + full[0].sum() + full[1].sum()


def build():
    torch.manual_seed(0)
    x = lambda: torch.rand(2, 8, 16)
    return {
        "cache": (Cache(), (x(),)),
        "rotary": (Rotary(), (x(),)),
        "norm": (Norm(), (x(),)),
        "shared": (Shared(), (torch.rand(8, 16),)),
        "encoded": (Encoded(), (x(),)),
        "decorated": (Decorated(), (x(),)),
        "nested": (Nested(), (x(),)),
        "listed": (Listed(), (torch.rand(2, 6, 16),)),
        "named": (Named(), (x(),)),
        "padded": (Padded(), (x(),)),
    }


def main():
    make.models.build = build
    found = {}
    for name, (module, inputs) in build().items():
        if name != "listed":  # torch.export refuses it
            pt2_file.write(pt2_file.export(module, inputs, "train"), FILES / f"functions_{name}.pt2", keep_weights=False)
        pt_file.write(pt_file.trace(module, inputs, "train"), FILES / f"functions_{name}.pt", keep_lines=True)
        if name in ("listed", "named"):  # no numbers of a fake tensor; two dtypes
            continue
        found[name] = {"fp32": make.figures(name, torch.float32), "bf16": make.figures(name, torch.bfloat16),
                       "autocast": make.figures(name, torch.float32, autocast=True)}
    (HERE / "functions.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
