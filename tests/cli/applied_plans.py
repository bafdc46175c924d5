"""Plans as Python files, on modules that make the calls of their file, and on others, which are refused in their forward pass.

  python applied_plans.py SYMPROF        needs PyTorch
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch
import torch.nn as nn
import torch.nn.functional as F

SYMPROF = sys.argv.pop(1)
ROWS, WIDTH, BLOCKS = 4096, 256, 4
# One more call, whose result changes nothing.
MORE = {"aten::addmm": lambda x: torch.addmm(x.new_zeros(1), x.new_zeros(1, 1), x.new_zeros(1, 1)),
        "aten::gelu": lambda x: F.gelu(x.new_zeros(1)),
        "aten::native_layer_norm": lambda x: F.layer_norm(x.new_zeros(1), (1,)),
        "aten::add": lambda x: torch.add(x.new_zeros(1), x.new_zeros(1))}


class Block(nn.Module):
    def __init__(self, more):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.more = more

    def forward(self, x):
        if self.more:
            x = torch.sub(x, MORE[self.more](x).sum())
        return torch.add(x, self.down(F.gelu(self.up(self.norm(x)))))


def build(more=None):
    torch.manual_seed(0)
    return nn.Sequential(*(Block(more) for _ in range(BLOCKS)))


def gradients(model, x):
    model.zero_grad()
    model(x).sum().backward()
    return [parameter.grad for parameter in model.parameters()]


class AppliedPlans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.x = torch.randn(ROWS, WIDTH)
        cls.plan, cls.kept = cls.planned(None)

    @classmethod
    def ask(cls, path, form, *given):
        command = [SYMPROF, "plan", "checkpoint", path, "--loss", "sum", "--device", "h200", "--context", "0", "--alloc-conf", "expandable_segments:True",
                   "--regions", ",".join(map(str, range(BLOCKS))), "--format", form, *given]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    @classmethod
    def planned(cls, more):
        """A plan that keeps some calls of a block, as a module of Python; the block, one of the operators and its index."""
        path = pathlib.Path(cls.folder.name) / f"{str(more).replace(':', '_')}.pt2"
        torch.export.save(torch.export.export(build(more), (cls.x,)), path)
        ends = json.loads(cls.ask(path, "json", "--budget", "100GiB"))
        low, high = ends["all_again"]["peak_reserved_bytes"], ends["without"]["peak_reserved_bytes"]
        for share in (0.5, 0.3, 0.7, 0.1, 0.9):
            code = {}
            exec(cls.ask(path, "python", "--budget", str(int(low + share * (high - low)))), code)
            for name, kept in code["PLAN"].items():
                for op, index in sorted(kept):
                    if more in (None, op):
                        return code, (name, op, index)
        raise AssertionError(f"no plan keeps a call of {more}")

    def test_a_module_that_makes_the_calls_of_its_file(self):
        model = build()
        expected = gradients(build(), self.x)
        self.plan["apply_plan"](model)
        for _ in range(2):
            self.assertTrue(all(map(torch.equal, gradients(model, self.x), expected)))

    def test_without_gradients_nothing_is_counted(self):
        model = build(self.kept[1])
        self.plan["apply_plan"](model)
        with torch.no_grad():
            model(self.x)

    def test_a_forward_pass_that_failed_is_not_counted_on(self):
        model = build()
        self.plan["apply_plan"](model)
        with self.assertRaises(RuntimeError):
            model(self.x[:, 1:])
        model(self.x).sum().backward()

    def refused(self, plan, model, kept, made, known):
        name, op, index = kept
        plan["apply_plan"](model)
        with self.assertRaises(RuntimeError) as caught:
            model(self.x)
        said = str(caught.exception)
        self.assertRegex(said, rf"^\d: makes {made} calls of {op}, and {known} in the file that the plan is of: ")
        self.assertIn(f"{op}#{index}", said)
        self.assertIn("--whole", said)

    def test_a_module_that_makes_a_call_more(self):
        name, op, _ = self.kept
        known = self.plan["CALLS"][name][op][0]
        self.refused(self.plan, build(op), self.kept, known + 1, known)

    def test_a_module_that_makes_a_call_less(self):
        plan, kept = self.planned(self.kept[1])
        name, op, _ = kept
        known = plan["CALLS"][name][op][0]
        self.refused(plan, build(), kept, known - 1, known)

    def trained(self, make_optimizer, plan=None):
        """Parameters after three updates, and the optimizer's states."""
        model = build()
        optimizer = make_optimizer(model.parameters())
        if plan is not None:
            plan["apply_plan"](model, optimizer)
        for _ in range(3):
            optimizer.zero_grad()
            model(self.x).sum().backward()
            optimizer.step()
        return list(model.parameters()), [state for one in optimizer.state.values() for _, state in sorted(one.items())]

    def test_a_warm_start_changes_no_update(self):
        path = pathlib.Path(self.folder.name) / "None.pt2"
        for name, make_optimizer in {"adamw": lambda given: torch.optim.AdamW(given), "adam": lambda given: torch.optim.Adam(given, amsgrad=True),
                                     "sgd_momentum": lambda given: torch.optim.SGD(given, lr=1e-6, momentum=0.9),
                                     "rmsprop": lambda given: torch.optim.RMSprop(given, momentum=0.9, centered=True)}.items():
            with self.subTest(optimizer=name):
                plan = {}
                exec(self.ask(path, "python", "--optimizer", name, "--warm-start", "--budget", "100GiB"), plan)
                optimizer = make_optimizer(build().parameters())
                plan["apply_plan"](build(), optimizer)
                self.assertTrue(all(optimizer.state[parameter] for parameter in optimizer.param_groups[0]["params"]))
                for expected, found in zip(self.trained(make_optimizer), self.trained(make_optimizer, plan)):
                    self.assertEqual(len(expected), len(found))
                    self.assertTrue(all(map(torch.equal, expected, found)))

    def test_a_momentum_that_is_dampened_begins_with_the_gradient(self):
        plan, make_optimizer = {}, lambda given: torch.optim.SGD(given, lr=1e-6, momentum=0.9, dampening=0.5)
        exec(self.ask(pathlib.Path(self.folder.name) / "None.pt2", "python", "--optimizer", "sgd_momentum", "--warm-start", "--budget", "100GiB"), plan)
        for expected, found in zip(self.trained(make_optimizer), self.trained(make_optimizer, plan)):
            self.assertTrue(all(map(torch.equal, expected, found)))

    def test_a_warm_start_of_another_optimizer(self):
        plan = {}
        exec(self.ask(pathlib.Path(self.folder.name) / "None.pt2", "python", "--optimizer", "rmsprop", "--warm-start", "--budget", "100GiB"), plan)
        model = build()
        with self.assertRaisesRegex(TypeError, "torch.optim.RMSprop, and the optimizer is Adagrad: plan with --optimizer"):
            plan["apply_plan"](model, torch.optim.Adagrad(model.parameters()))


if __name__ == "__main__":
    unittest.main()
