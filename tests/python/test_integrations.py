"""The package inside other tools: pytest, transformers' Trainer, Lightning, a loop that is watched."""
import importlib.util
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

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(symprof.__file__)))
BATCH, WIDTH, HIDDEN = 4, 64, 256


def is_there(package):
    return importlib.util.find_spec(package) is not None


def feedforward(hidden=HIDDEN):
    return nn.Sequential(nn.Linear(WIDTH, hidden), nn.ReLU(), nn.Linear(hidden, WIDTH))


class OptimizersOfAModel(unittest.TestCase):
    def test_groups_and_settings_are_kept(self):
        model = feedforward()
        weights, biases = [[p for p in model.parameters() if p.dim() == dim] for dim in (2, 1)]
        optimizer = torch.optim.AdamW([{"params": weights}, {"params": biases, "weight_decay": 0.0}], foreach=False)
        mine = symprof.profile(model, torch.randn(BATCH, WIDTH), optimizer=optimizer).totals
        named = symprof.profile(model, torch.randn(BATCH, WIDTH), optimizer="adamw:for_loop").totals
        self.assertEqual(mine["optimizer_bytes"], named["optimizer_bytes"])
        self.assertEqual(len(optimizer.state), 0)

    def test_another_models_optimizer_is_refused(self):
        optimizer = torch.optim.SGD(feedforward().parameters(), lr=0.1)
        with self.assertRaisesRegex(symprof.Error, "parameters that the model does not have"):
            symprof.profile(feedforward(), torch.randn(BATCH, WIDTH), optimizer=optimizer)

    def test_micro_batches_are_run(self):
        once = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH), optimizer="sgd")
        thrice = once.at(micro_batches=3)
        self.assertEqual(thrice.totals["fwd_flops"], 3 * once.totals["fwd_flops"])


class Watched(unittest.TestCase):
    def test_measured_peaks_stand_beside_the_estimate(self):
        """Measured on the simulated device, which answers torch.cuda as a real one would."""
        with symprof.simulate():
            model = feedforward().cuda()
            optimizer = torch.optim.AdamW(model.parameters())
            with symprof.watch(model, optimizer) as seen:
                for _ in range(3):
                    optimizer.zero_grad()
                    model(torch.randn(BATCH, WIDTH, device="cuda")).sum().backward()
                    optimizer.step()
        self.assertEqual([row["step"] for row in seen.rows], [0, 1, 2])
        last = seen.rows[-1]
        self.assertEqual(last["peak_reserved_bytes"], last["estimated_reserved_bytes"])
        self.assertIn(f"{last['peak_allocated_bytes']:,}", str(seen))

    def test_without_cuda_nothing_is_measured(self):
        model = feedforward()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with symprof.watch(model, optimizer) as seen:
            model(torch.randn(BATCH, WIDTH)).sum().backward()
            optimizer.step()
        self.assertIsNone(seen.rows[0]["peak_allocated_bytes"])
        self.assertIn("not measured", str(seen))
        self.assertEqual(seen.estimate.totals["fwd_flops"], 4 * BATCH * WIDTH * HIDDEN)


TEST_FILE = """
import symprof, torch
from torch import nn

def model(hidden):
    return nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 64))

def test_bounds(assert_cost):
    assert_cost(model(256), torch.randn(4, 64), peak="<1GiB", fwd_flops=4 * 4 * 64 * 256)

def test_too_much(assert_cost):
    assert_cost(model(256), torch.randn(4, 64), saved="<1KiB")

def test_golden(assert_cost):
    import os
    assert_cost(model(int(os.environ["HIDDEN"])), torch.randn(4, 64), golden="feedforward")
"""


@unittest.skipUnless(is_there("pytest"), "pytest is not installed")
class Pytest(unittest.TestCase):
    def run_tests(self, folder, *options, hidden=HIDDEN):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "symprof.pytest_plugin", "-p", "no:cacheprovider", *options]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "HIDDEN": str(hidden), "PYTHONPATH": PACKAGE})
        return done.stdout + done.stderr

    def test_costs_that_grow_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "test_cost.py").write_text(TEST_FILE)
            said = self.run_tests(folder)
            self.assertIn("2 failed, 1 passed", said)
            self.assertIn(f"saved is {4 * BATCH * HIDDEN:,}, wanted <1KiB", said)
            self.assertIn("feedforward.cost.json is not there; --update-costs writes it", said)
            self.assertIn("1 failed, 2 passed", self.run_tests(folder, "--update-costs"))
            golden = json.loads((pathlib.Path(folder) / "feedforward.cost.json").read_text())
            self.assertEqual(golden["fwd_flops"], 4 * BATCH * WIDTH * HIDDEN)
            self.assertIn("1 failed, 2 passed", self.run_tests(folder))
            grown = self.run_tests(folder, "-k", "golden", hidden=2 * HIDDEN)
            self.assertIn(f"fwd_flops is {8 * BATCH * WIDTH * HIDDEN:,}, was {4 * BATCH * WIDTH * HIDDEN:,}", grown)


@unittest.skipUnless(is_there("transformers") and is_there("accelerate"), "transformers' Trainer is not installed")
class Transformers(unittest.TestCase):
    def test_the_trainer_says_whether_it_fits(self):
        import transformers
        from symprof.huggingface import FitCallback

        config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=32, vocab_size=64, n_positions=32)
        rows = [{"input_ids": torch.arange(16), "labels": torch.arange(16)} for _ in range(8)]
        said = FitCallback(device="t4", stop=True)
        with tempfile.TemporaryDirectory() as folder:
            arguments = transformers.TrainingArguments(folder, max_steps=1, per_device_train_batch_size=4, use_cpu=True,
                                                       gradient_accumulation_steps=2, report_to=[])
            trainer = transformers.Trainer(transformers.GPT2LMHeadModel(config), arguments, train_dataset=rows, callbacks=[said])
            trainer.train()
        self.assertTrue(said.fit)
        self.assertEqual(trainer.state.global_step, 1)
        self.assertGreater(said.fit.data["memory"]["at_peak"]["optimizer"], 0)


@unittest.skipUnless(is_there("lightning") or is_there("pytorch_lightning"), "Lightning is not installed")
class Lightning(unittest.TestCase):
    def test_the_trainer_says_whether_it_fits(self):
        from symprof import lightning

        trainer_of = sys.modules[lightning.Callback.__module__.split(".")[0]]
        pl = getattr(trainer_of, "pytorch", trainer_of)

        class Regression(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.model = feedforward()

            def training_step(self, batch, index):
                loss = self.model(batch[0]).sum()
                self.log("loss", loss)
                return loss

            def configure_optimizers(self):
                return torch.optim.AdamW(self.parameters())

        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(8, WIDTH)), batch_size=BATCH)
        said = lightning.FitCallback(device="t4", stop=True)
        trainer = pl.Trainer(max_steps=1, accelerator="cpu", logger=False, enable_checkpointing=False,
                             enable_progress_bar=False, callbacks=[said])
        trainer.fit(Regression(), data)
        self.assertTrue(said.fit)
        self.assertEqual(trainer.global_step, 1)


if __name__ == "__main__":
    unittest.main()
