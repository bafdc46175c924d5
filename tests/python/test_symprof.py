"""The package on models whose figures are formulas."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import symprof  # Before torch.

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BATCH, WIDTH, HIDDEN = 4, 64, 256
FLOAT = 4  # bytes


class Feedforward(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


PARAMETERS = 2 * WIDTH * HIDDEN + WIDTH + HIDDEN
PRODUCT = 2 * BATCH * WIDTH * HIDDEN


def step(model, optimizer, x):
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


class Files(unittest.TestCase):
    def test_is_what_the_command_says(self):
        model = ROOT / "models/tiny/mlp.pt2"
        command = [ROOT / "build/release/bin/symprof", "profile", model, "--optimizer", "adamw", "--format", "json"]
        command[0] = pathlib.Path(symprof.__file__).parent / "bin/symprof"
        said = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        found = symprof.profile(model, optimizer="adamw").data
        for key in ("totals", "coverage", "options", "warnings"):
            self.assertEqual(found[key], said[key])
        self.assertEqual([row["fwd_flops"] for row in found["nodes"]], [row["fwd_flops"] for row in said["nodes"]])

    def test_errors_name_settings_as_arguments(self):
        with self.assertRaisesRegex(symprof.Error, "there is no such file"):
            symprof.profile("absent.pt2")
        with self.assertRaisesRegex(symprof.Error, "optimizer"):
            symprof.profile(ROOT / "models/tiny/mlp.pt2", optimizer="adm")


class Modules(unittest.TestCase):
    def test_products_and_saved_activations_are_formulas(self):
        totals = symprof.profile(Feedforward(), torch.randn(BATCH, WIDTH)).totals
        self.assertEqual(totals["fwd_flops"], 2 * PRODUCT)
        self.assertEqual(totals["bwd_flops"], 3 * PRODUCT)  # The input has no gradient.
        self.assertEqual(totals["param_bytes"], FLOAT * PARAMETERS)
        self.assertEqual(totals["grad_bytes"], FLOAT * PARAMETERS)
        self.assertEqual(totals["saved_bytes"], FLOAT * BATCH * HIDDEN)  # relu's output, which two save.
        self.assertEqual(totals["input_bytes"], FLOAT * BATCH * WIDTH)

    def test_adam_has_two_states_for_each_parameter(self):
        totals = symprof.profile(Feedforward(), torch.randn(BATCH, WIDTH), optimizer="adamw").totals
        steps = 4 * FLOAT  # A number for each of four parameters; on the host, unless it is fused.
        self.assertIn(totals["optimizer_bytes"], (2 * FLOAT * PARAMETERS, 2 * FLOAT * PARAMETERS + steps))

    def test_inference_saves_nothing(self):
        totals = symprof.profile(Feedforward(), torch.randn(BATCH, WIDTH), mode="inference").totals
        self.assertEqual(totals["saved_bytes"], 0)
        self.assertEqual(totals["bwd_flops"], 0)

    def test_the_model_and_its_weights_stay(self):
        model = Feedforward()
        before = model.up.weight.clone()
        symprof.profile(model, torch.randn(BATCH, WIDTH))
        self.assertEqual(model.up.weight.device.type, "cpu")
        self.assertTrue(torch.equal(model.up.weight, before))
        self.assertIsNone(model.up.weight.grad)

    def test_weights_are_never_needed(self):
        with torch.device("meta"):
            model = Feedforward()
        totals = symprof.profile(model, torch.empty(BATCH, WIDTH, device="meta")).totals
        self.assertEqual(totals["fwd_flops"], 2 * PRODUCT)

    def test_rows_have_the_paths_of_modules_and_lines_of_the_program(self):
        nodes = symprof.profile(Feedforward(), torch.randn(BATCH, WIDTH)).nodes
        modules = [node["module"] for node in nodes if node["op"] == "aten::linear"]
        self.assertEqual(modules, ["up", "down"])
        line = Feedforward.forward.__code__.co_firstlineno + 1
        self.assertIn(f"test_symprof.py:{line}", {node.get("source") for node in nodes})


    def test_wrappers_are_in_no_path(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.module = torch.compile(Feedforward()), nn.Linear(WIDTH, WIDTH)

            def forward(self, x):
                return self.module(self.body(x))

        with symprof.simulate(eager=True) as run:
            model = torch.compile(nn.DataParallel(Net().cuda()))
            model(torch.randn(BATCH, WIDTH).cuda()).sum().backward()
            run.end_step()
        modules = [node["module"] for node in run.profile.nodes if node["op"] == "aten::linear"]
        self.assertEqual(modules, ["body.up", "body.down", "module"])

    def test_a_notebook_shows_the_page(self):
        profile = symprof.profile(Feedforward(), torch.randn(BATCH, WIDTH))
        page = profile._repr_html_()
        self.assertEqual(page, profile.html())
        self.assertIn("<svg", page)
        for outside in ("<script src", "<link", "@import", "url(http"):
            self.assertNotIn(outside, page)


class Simulations(unittest.TestCase):
    def test_checkpointing_saves_less_and_computes_again(self):
        def run(function):
            with symprof.simulate() as run:
                model = Feedforward().cuda()
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for _ in range(2):
                    x = torch.randn(BATCH, WIDTH).cuda().requires_grad_()
                    function(model, x).sum().backward()
                    optimizer.step()
                    optimizer.zero_grad()
            return run.profile.totals

        plain = run(lambda model, x: model(x))
        for reentrant in (False, True):
            totals = run(lambda model, x: checkpoint(model, x, use_reentrant=reentrant))
            self.assertEqual(totals["saved_bytes"], 0)
            self.assertEqual(totals["fwd_flops"], plain["fwd_flops"])
            self.assertEqual(totals["bwd_flops"] - totals["recompute_flops"], plain["bwd_flops"])
            # Early stop leaves out the last product, which nothing saved needs.
            self.assertEqual(totals["recompute_flops"], 2 * PRODUCT if reentrant else PRODUCT)

    def test_tied_parameters_stay_tied_on_the_device(self):
        with symprof.simulate() as run:
            model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH))
            model[1].weight = model[0].weight
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model.cuda()
            self.assertIs(model[1].weight, model[0].weight)
            step(model, optimizer, torch.randn(BATCH, WIDTH).cuda())
        self.assertEqual(run.profile.totals["param_count"], WIDTH * WIDTH + 2 * WIDTH)

    def test_scaled_gradients_are_finite(self):
        with symprof.simulate() as run:
            model = Feedforward().cuda()
            optimizer = torch.optim.AdamW(model.parameters())
            scaler = torch.amp.GradScaler()
            for _ in range(2):
                with torch.autocast("cuda", dtype=torch.float16):
                    loss = model(torch.randn(BATCH, WIDTH).cuda()).sum()
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
            self.assertEqual(run.steps, 2)

    def test_memory_is_that_of_the_simulated_allocator(self):
        with symprof.simulate() as run:
            model = Feedforward().cuda()
            optimizer = torch.optim.AdamW(model.parameters())
            step(model, optimizer, torch.randn(BATCH, WIDTH).cuda())
            torch.cuda.reset_peak_memory_stats()
            step(model, optimizer, torch.randn(BATCH, WIDTH).cuda())
            peak = torch.cuda.max_memory_allocated()
        self.assertEqual(peak, run.profile.totals["peak_allocated_bytes"])
        self.assertGreater(peak, 3 * FLOAT * PARAMETERS)

    def test_nothing_stays_behind(self):
        before = torch.cuda.is_available(), torch.Tensor.data, nn.RNNBase.flatten_parameters
        with symprof.simulate():
            self.assertTrue(torch.cuda.is_available())
        self.assertEqual((torch.cuda.is_available(), torch.Tensor.data, nn.RNNBase.flatten_parameters), before)
        self.assertEqual(torch.zeros(2, device="meta").normal_().device.type, "meta")  # Python's kernels are back.

    def test_many_runs_leave_no_tensor(self):
        sizes = {symprof.profile(Feedforward(), torch.randn(BATCH, WIDTH)).totals["peak_allocated_bytes"] for _ in range(20)}
        self.assertEqual(len(sizes), 1)


class Command(unittest.TestCase):
    def python(self, *arguments):
        return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=os.environ, check=False)

    def test_runs_a_script_as_it_is(self):
        done = self.python("-m", "symprof", "run", "--steps", "2", "--format", "json",
                           str(ROOT / "examples/python/train.py"), "--batch-size", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout[done.stdout.index("{"):])
        self.assertEqual(found["model"]["path"], "train.py")
        self.assertGreater(found["totals"]["optimizer_flops"], 0)
        self.assertIn("blocks.5.mlp.0", {node["module"] for node in found["nodes"]})

    def test_a_script_that_does_not_fit_says_the_line(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "large.py"
            script.write_text("import torch\nx = torch.empty(2**34, device='cuda')  # 64 GiB\ny = x + 1\n")
            done = self.python("-m", "symprof", "run", "--device", "t4", str(script))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("large.py does not fit into NVIDIA T4 16 GB", done.stderr)
        self.assertRegex(done.stderr, r"refused +a request in forward at empty \(large\.py:2\)")

    def test_times_are_there_where_they_are_asked_for(self):
        done = self.python("-m", "symprof", "run", "--time", "--steps", "1", "--format", "json",
                           str(ROOT / "examples/python/train.py"), "--batch-size", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout[done.stdout.index("{"):])
        self.assertLess(found["time"]["step_time_low_us"], found["time"]["step_time_high_us"])
        self.assertIsNone(symprof.profile(Feedforward(), torch.randn(BATCH, WIDTH)).time)

    def test_a_script_that_is_not_there(self):
        done = self.python("-m", "symprof", "run", "absent.py")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("absent.py: there is no such file", done.stderr)

    def test_torch_before_symprof_is_one_sentence(self):
        done = self.python("-c", "import torch; import symprof")
        self.assertIn("was imported before symprof", done.stderr)


if __name__ == "__main__":
    unittest.main()
