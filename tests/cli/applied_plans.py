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

    def held(self, plan, model):
        """What the forward and backward passes of `model` take and drop of `plan`'s spacers, between the modules that begin: their numbers."""
        log = []

        class Held:
            def __init__(self, size, dtype, device):
                self.size = size
                log.append(f"take {size}")

            def __del__(self):
                log.append(f"drop {self.size}")

        plan["torch"] = type("Recorder", (), {"empty": Held, "__getattr__": lambda _, name: getattr(torch, name)})()
        plan["hold_spacers"](model)
        plan["apply_plan"](model)
        for name, module in model.named_children():
            module.register_forward_pre_hook(lambda module, args, name=name: log.append(name))
        return log

    def test_spacers_are_there_from_one_module_until_another(self):
        plan, model = {}, build()
        exec(self.ask(pathlib.Path(self.folder.name) / "None.pt2", "python", "--spacers", "4096:0:2,2048:1:3", "--budget", "100GiB", "--whole"), plan)
        self.assertEqual(plan["SPACERS"], [(4096 << 10, "0", "2"), (2048 << 10, "1", "3")])
        plan["PLAN"] = {"1": set(), "2": set()}
        log = self.held(plan, model)
        first, second = (f"{size << 10}" for size in (4096, 2048))
        forward = [f"take {first}", "0", f"take {second}", "1", f"drop {first}", "2", f"drop {second}", "3"]
        for _ in range(2):
            self.assertTrue(all(map(torch.equal, gradients(model, self.x), gradients(build(), self.x))))
            self.assertEqual(log, [*forward, "2", "1"])  # What runs again in backward takes none.
            log.clear()

    def test_spacers_of_a_module_that_is_called_again(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(2, 2)

            def forward(self, x):
                return self.layer(self.layer(self.layer(x)))

        plan = {}
        exec(self.ask(pathlib.Path(self.folder.name) / "None.pt2", "python", "--spacers", "2048:0:1", "--budget", "100GiB"), plan)
        plan["SPACERS"], plan["PLAN"], model = [(8, "layer@1", "layer@2")], {}, Twice()
        log = self.held(plan, model)
        for _ in range(2):
            model(torch.ones(1, 2))
            self.assertEqual(log, ["layer", "take 8", "layer", "drop 8", "layer"])
            log.clear()

    def test_a_warm_start_of_another_optimizer(self):
        plan = {}
        exec(self.ask(pathlib.Path(self.folder.name) / "None.pt2", "python", "--optimizer", "rmsprop", "--warm-start", "--budget", "100GiB"), plan)
        model = build()
        with self.assertRaisesRegex(TypeError, "torch.optim.RMSprop, and the optimizer is Adagrad: plan with --optimizer"):
            plan["apply_plan"](model, torch.optim.Adagrad(model.parameters()))


if __name__ == "__main__":
    unittest.main()
