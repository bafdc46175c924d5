"""Tensor subclasses: what is inside of them counts, and they stay what they are."""
import unittest

import symprof  # Before torch.

import torch
from torch import nn
from torch.utils._pytree import tree_map_only

ROWS, WIDTH, FLOAT = 4, 64, 4
BLOCK = 16
aten = torch.ops.aten


class Scaled(torch.Tensor):
    """Numbers of one byte, with a scale for each row: a wrapper that says its inner tensors."""

    @staticmethod
    def __new__(cls, codes, scales):
        return torch.Tensor._make_wrapper_subclass(cls, codes.shape, dtype=scales.dtype, device=codes.device)

    def __init__(self, codes, scales):
        self.codes, self.scales = codes, scales

    def __tensor_flatten__(self):
        return ["codes", "scales"], None

    @classmethod
    def __tensor_unflatten__(cls, inner, context, size, stride):
        return cls(inner["codes"], inner["scales"])

    @classmethod
    def of_zeros(cls, rows, columns, device):
        return cls(torch.zeros(rows, columns, dtype=torch.int8, device=device), torch.zeros(rows, 1, device=device))

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        if function in (aten.detach.default, aten.alias.default, aten.clone.default):
            return cls(function(args[0].codes), function(args[0].scales))
        if function is aten._to_copy.default:
            device = (kwargs or {})["device"]
            return cls(args[0].codes.to(device), args[0].scales.to(device))
        args, kwargs = tree_map_only(cls, lambda scaled: scaled.codes * scaled.scales, (args, kwargs or {}))
        return function(*args, **kwargs)


class Shape:
    """What a library keeps beside packed numbers."""

    def __init__(self, sizes, scales):
        self.shape, self.scales = torch.Size(sizes), scales


class Packed(nn.Parameter):
    """Two numbers in a byte, in a parameter of another shape: the wrapper says nothing, its attributes do."""

    def __new__(cls, data=None, requires_grad=False, packing=None):
        made = torch.Tensor._make_subclass(cls, data, requires_grad)
        made.packing = packing
        return made


def packed(rows, columns, device):
    data = torch.empty(rows * columns // 2, 1, dtype=torch.uint8, device=device)
    return Packed(data, packing=Shape((rows, columns), torch.empty(rows * columns // BLOCK, device=device)))


SCALED_BYTES = WIDTH * WIDTH + FLOAT * WIDTH
PACKED_BYTES = WIDTH * WIDTH // 2 + FLOAT * WIDTH * WIDTH // BLOCK


class Frozen(nn.Module):
    """A frozen weight and a layer that is trained."""

    def __init__(self, weight):
        super().__init__()
        weight._is_param = True  # nn.Parameter() of a subclass imports all of DTensor first.
        self.weight = weight
        self.layer = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        weight = self.weight if isinstance(self.weight, Scaled) else self.weight.packing.scales.sum() + self.weight.sum()
        return self.layer(x * weight.sum())


class States(torch.optim.Optimizer):
    """Keeps states in each way that optimizers have them."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if not self.state[p]:
                    self.state[p] = {"step": 0, "codes": Scaled.of_zeros(*p.shape, p.device), "list": [torch.zeros_like(p)],
                                     "tuple": ({"inner": torch.zeros_like(p)},), "object": Shape((), torch.zeros_like(p))}
                p.sub_(p.grad)
        if "all" not in self.state:
            self.state["all"] = {"norm": torch.zeros(WIDTH, device="cuda")}


class Counts(unittest.TestCase):
    def totals(self, weight, optimizer):
        with symprof.simulate() as run:
            model = Frozen(weight()).cuda()
            updates = optimizer(model.layer.parameters())
            for _ in range(2):
                model(torch.randn(ROWS, WIDTH, device="cuda")).sum().backward()
                updates.step()
                updates.zero_grad()
        return run.profile.totals

    def test_parameters_are_all_that_is_inside_of_a_wrapper(self):
        totals = self.totals(lambda: Scaled.of_zeros(WIDTH, WIDTH, "cuda"), torch.optim.SGD)
        self.assertEqual(totals["param_bytes"], SCALED_BYTES + FLOAT * WIDTH * WIDTH)
        self.assertEqual(totals["param_count"], 2 * WIDTH * WIDTH)

    def test_a_wrapper_that_comes_to_the_device_counts_alike(self):
        totals = self.totals(lambda: Scaled.of_zeros(WIDTH, WIDTH, "cpu"), torch.optim.SGD)
        self.assertEqual(totals["param_bytes"], SCALED_BYTES + FLOAT * WIDTH * WIDTH)

    def test_packed_numbers_are_counted_one_by_one(self):
        totals = self.totals(lambda: packed(WIDTH, WIDTH, "cuda"), torch.optim.SGD)
        self.assertEqual(totals["param_bytes"], PACKED_BYTES + FLOAT * WIDTH * WIDTH)
        self.assertEqual(totals["param_count"], 2 * WIDTH * WIDTH)

    def test_states_are_found_in_wrappers_lists_and_objects(self):
        totals = self.totals(lambda: Scaled.of_zeros(WIDTH, WIDTH, "cuda"), States)
        self.assertEqual(totals["optimizer_bytes"], SCALED_BYTES + 3 * FLOAT * WIDTH * WIDTH + FLOAT * WIDTH)


if __name__ == "__main__":
    unittest.main()
