#!/usr/bin/env python3
"""Writes models/tiny/ files for what the other examples do not have: higher-order operators, sizes
that depend on data, operators of one's own, a joint graph. Each is one small module.

Usage: python models/special_models.py [NAME ...]     (the packages of requirements-models.txt)
"""
import pathlib
import sys
import warnings

import torch
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.hints_wrap import hints_wrapper
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.strict_mode import strict_mode
from torch.export.experimental import _export_forward_backward

import pt2_file
import pt_file

TINY = pathlib.Path(__file__).resolve().parent / "tiny"
WIDTH, WIDE = 8, 32


@torch.library.custom_op("acme::pool_pairs", mutates_args=())
def pool_pairs(x: torch.Tensor) -> torch.Tensor:
    return x.unflatten(1, (-1, 2)).mean(2)


@pool_pairs.register_fake
def _(x):
    return x.new_empty(x.shape[0], x.shape[1] // 2, x.shape[2])


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.narrow = nn.Linear(WIDTH, WIDTH)
        self.up = nn.Linear(WIDTH, WIDE)
        self.down = nn.Linear(WIDE, WIDTH)

    def wide(self, x):
        return self.down(torch.tanh(self.up(x)))


class Checked(Layers):
    """What assertions hold of data: the exporter knows the number and the size that are read."""

    def forward(self, x):
        torch._check_tensor_all(x >= 0)
        rows = x[x[:, 0] > 0]
        torch._check(rows.shape[0] == 2)
        return self.narrow(rows)


class Cond(Layers):
    """A branch on a size."""

    def forward(self, x):
        return torch.cond(x.shape[0] > 4, self.wide, self.narrow, (x,))


class CondOnData(Layers):
    """The same branch on a value."""

    def forward(self, x):
        return torch.cond(x.sum() > 0, self.narrow, self.wide, (x,))


class WhileLoop(Layers):
    """A layer three times."""

    def forward(self, x):
        carried = (torch.tensor(0), x)
        return while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, self.narrow(t)), carried)[1]


class Scan(Layers):
    """A recurrent cell over the first dimension."""

    def forward(self, x):
        def cell(state, element):
            state = torch.tanh(self.narrow(element) + state)
            return state, state * 2

        return scan(cell, torch.zeros(4, WIDTH), x)[1]


class Map(Layers):
    """A layer for each element of the first dimension."""

    def forward(self, x):
        return map_over(lambda element: torch.tanh(self.narrow(element)), x)


class Wrappers(Layers):
    """Operators that only run a graph."""

    def forward(self, x):
        x = strict_mode(lambda t: (torch.tanh(self.narrow(t)),), (x,))[0]
        return hints_wrapper(lambda t: torch.tanh(self.narrow(t)), (x,), {}, hints={"keep": 1})


class NonZero(Layers):
    """As many rows as there are positive elements, then as many as have a positive first one."""

    def forward(self, x):
        rows = torch.nonzero(x > 0)[:, 0]
        x = self.narrow(x[rows])
        return self.wide(x[x[:, 0] > 0])


class Item(Layers):
    """As many rows as an input says, at most a hundred."""

    def forward(self, x, count):
        rows = count.item()
        torch._check(rows >= 0)
        torch._check(rows <= 100)
        return self.narrow(x.new_ones(rows, WIDTH))


class CustomOperator(Layers):
    """An operator that PyTorch does not have."""

    def forward(self, x):
        return self.narrow(torch.ops.acme.pool_pairs(x))


class Joint(Layers):
    """A model whose output is its loss, exported with its backward pass."""

    def forward(self, x):
        return (self.wide(x) + self.narrow(x)).sum()


class Constants(Layers):
    """Inputs that are constants, a complex number, a frozen parameter, a buffer that changes."""

    def __init__(self):
        super().__init__()
        self.narrow.weight.requires_grad_(False)
        self.register_buffer("seen", torch.zeros(WIDTH))

    def forward(self, x, power=2, kind="tanh", nothing=None):
        self.seen.add_(x.mean(0))
        y = torch.nn.functional.gelu(self.narrow(x), approximate=kind) ** power
        return torch.view_as_real(y + torch.full((WIDTH,), 1 + 2j))


class Autocast(Layers):
    """A layer in half precision, and the same one outside."""

    def forward(self, x):
        with torch.autocast("cuda", dtype=torch.float16):
            y = self.narrow(x)
        return y.float() + self.narrow(x)


class Masked(Layers):
    """As many rows as a mask keeps."""

    def forward(self, x):
        return self.narrow(x[x[:, 0] > 0])


ROWS = torch.export.Dim("rows", min=2, max=64)
X = torch.zeros(3, WIDTH)
MODELS = {  # name: (class, inputs, what else torch.export.export takes)
    "cond": (Cond, (X,), {"dynamic_shapes": ({0: ROWS},)}),
    "cond_on_data": (CondOnData, (X,), {}),
    "while_loop": (WhileLoop, (X,), {}),
    "scan": (Scan, (torch.zeros(6, 4, WIDTH),), {}),
    "map": (Map, (torch.zeros(6, 4, WIDTH),), {}),
    "wrappers": (Wrappers, (X,), {"strict": True}),
    "nonzero": (NonZero, (X,), {}),
    "item": (Item, (X, torch.tensor(5)), {}),
    "checked": (Checked, (X,), {}),
    "custom_operator": (CustomOperator, (torch.zeros(2, 6, WIDTH),), {}),
    "joint": (Joint, (X,), {}),
    "constants": (Constants, (X, 2, "tanh", None), {}),
}


def main():
    warnings.filterwarnings("ignore")
    for name in sys.argv[1:] or MODELS:
        build, inputs, options = MODELS[name]
        module = build().train()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.zero_()
        program = torch.export.export(module, inputs, **{"strict": False, **options})
        if name == "joint":
            program = _export_forward_backward(program)
        path = TINY / f"{name}.pt2"
        pt2_file.write(program, path, keep_weights=True)
        print(f"{name}: {path.stat().st_size} bytes", flush=True)
    if not sys.argv[1:]:
        for name, build in {"autocast": Autocast, "masked": Masked}.items():
            pt_file.write(pt_file.script(build(), "train"), TINY / f"{name}.pt")
        traced = pt_file.trace(CustomOperator(), (torch.zeros(2, 6, WIDTH),), "train")
        pt_file.write(traced, TINY / "custom_operator.pt")


if __name__ == "__main__":
    main()
