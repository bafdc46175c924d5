"""Plans, comparisons, and the commands that compute with values, as Python names."""
import pathlib
import tempfile
import unittest

import symprof  # Before torch.

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GPT2 = ROOT / "models/gpt2.pt2"
CNN = ROOT / "tests/workbench/golden/models/cnn.onnx"
CNN_OPTIMIZED = ROOT / "tests/workbench/golden/models/cnn.ort_basic.onnx"
MLP = ROOT / "models/tiny/mlp.pt2"


class Layers(nn.Module):
    """So many that their inputs alone are much, as long as each is recomputed by itself."""

    def __init__(self, count=36, width=64):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def linear(rows=4, **settings):
    return symprof.profile(nn.Linear(8, 16), torch.zeros(rows, 8), **settings)


class Plans(unittest.TestCase):
    def test_a_checkpoint_plan_is_a_setting_and_a_file(self):
        profile = symprof.profile(GPT2, optimizer="adamw", device="a100-40g")
        plan = profile.plan_checkpoint("4.8GiB")
        self.assertTrue(plan)
        self.assertIn("def apply_plan(model", plan.code)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(plan.json)
            file.flush()
            again = profile.at(checkpoint=file.name)
        self.assertGreater(again.totals["recompute_flops_all"], 0)
        self.assertFalse(profile.plan_checkpoint("1.5GiB"))

    def test_what_is_found_is_what_the_code_can_carry_out(self):
        program = torch.export.export(Layers(), (torch.zeros(65536, 64),))
        profile = symprof.profile(program, device="h100")
        for budget in ("1600MiB", "1800MiB"):  # The first holds only where modules are joined, which hooks cannot do.
            plan = profile.plan_checkpoint(budget)
            best = plan.data["budgets"][0].get("plan") or {"regions": []}
            self.assertTrue(all(len(region["modules"]) == 1 for region in best["regions"]))
            self.assertEqual(bool(plan), budget == "1800MiB")
            if plan:
                self.assertIn("def apply_plan(model", plan.code)

    def test_the_fastest_batch_of_each_device(self):
        plan = symprof.profile(GPT2, optimizer="adamw").plan_throughput("t4")
        self.assertTrue(plan)
        self.assertEqual([device["device"] for device in plan.data["devices"]], ["t4"])

    def test_a_layout_for_a_mesh(self):
        plan = symprof.profile(GPT2, optimizer="adamw", device="h100").plan_parallel(4, layout="ddp=4")
        self.assertTrue(plan)
        self.assertIn("4 devices", str(plan))
        self.assertIn("torchrun", plan.code)

    def test_a_module_has_no_graph_to_plan_with(self):
        with self.assertRaisesRegex(symprof.Error, "torch.export.export"):
            linear().plan_checkpoint("3GiB")


class SettingsOfPrograms(unittest.TestCase):
    def test_what_a_program_would_ignore_is_refused(self):
        for settings in ({"parallel": "fsdp=8"}, {"dtype": "bf16"}, {"clip_grad_norm": True}, {"bach": 3}):
            with self.assertRaisesRegex(symprof.Error, f"^{next(iter(settings))}: is no setting of a module"):
                linear(**settings)

    def test_sizes_of_a_module_are_given_as_those_of_a_file(self):
        self.assertEqual(linear(2, batch=5).totals, linear(5).totals)

    def test_a_file_takes_them(self):
        whole, rank = (symprof.profile(GPT2, **settings).totals["param_bytes"] for settings in ({}, {"parallel": "fsdp=8"}))
        self.assertLess(rank, whole)


class Comparisons(unittest.TestCase):
    def test_costs_of_two_profiles(self):
        costs = linear(4).compare(linear(12))
        self.assertEqual(costs.data["totals"]["fwd_flops_all"], [2 * 4 * 8 * 16, 2 * 12 * 8 * 16])
        self.assertIn("+200.0 %", str(costs))

    def test_values_of_two_files(self):
        same = symprof.compare(CNN, CNN_OPTIMIZED, tolerance=1e-4)
        self.assertTrue(same)
        self.assertTrue(same.data["outputs_agree"])

    def test_where_outputs_agree_there_is_nothing_to_cut_out(self):
        with tempfile.TemporaryDirectory() as folder:
            found = symprof.bisect(CNN, CNN_OPTIMIZED, pathlib.Path(folder) / "part")
            self.assertFalse(found)
            self.assertIn("agree", found.text)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_a_dump_is_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "calls.onnx"
            written = symprof.dump(CNN, file, module="conv*")
            self.assertEqual({entry["name"] for entry in written.data["entries"]}, {"conv1", "conv2"})
            self.assertTrue(symprof.restore(file, replay=CNN))

    def test_tensors_of_a_dump_are_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file, values = pathlib.Path(folder) / "calls.onnx", pathlib.Path(folder) / "values"
            symprof.dump(CNN, file, module="conv1")
            self.assertTrue(symprof.restore(file, output=values, **{"as": "npy"}))
            self.assertTrue(all(one.read_bytes().startswith(b"\x93NUMPY") for one in values.iterdir()))
            self.assertGreater(len(list(values.iterdir())), 1)

    def test_an_option_that_is_none(self):
        with self.assertRaisesRegex(symprof.Error, "tolerence: is no option here; there are .*tolerance"):
            symprof.compare(CNN, CNN_OPTIMIZED, tolerence=1e-4)
        with self.assertRaisesRegex(symprof.Error, "align: 'worst' is not known.\n.*best"):
            symprof.compare(CNN, CNN_OPTIMIZED, align="worst")

    def test_errors_are_those_of_the_command(self):
        with self.assertRaisesRegex(symprof.Error, "nothing.onnx: cannot be read"):
            symprof.compare("nothing.onnx", CNN)


class Measured(unittest.TestCase):
    def test_a_step_on_this_cpu(self):
        self.assertEqual(symprof.measure(MLP, steps=2)["schema"], symprof.profile(MLP).data["schema"])


if __name__ == "__main__":
    unittest.main()
