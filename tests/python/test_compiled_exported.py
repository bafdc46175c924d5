"""Exported programs under torch.compile: their steps are those of the compiled module."""
import contextlib
import io
import json
import os
import pathlib
import tempfile
import unittest

os.environ["XDG_CACHE_HOME"] = os.devnull  # No folder for graphs of earlier runs.

import symprof  # Before torch.
from symprof import _compile_command

import torch
from torch import nn

WIDTH, BATCH = 32, 8
FIGURES = ("saved_bytes", "peak_allocated_bytes", "peak_reserved_bytes", "fwd_flops", "bwd_flops", "optimizer_bytes")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block())

    def forward(self, x):
        return self.blocks(x) + torch.arange(WIDTH, device=x.device)


def exported():
    batch = torch.export.Dim("batch", min=1, max=64)
    return torch.export.export(Net(), (torch.randn(BATCH, WIDTH),), dynamic_shapes=({0: batch},))


def figures(profile):
    return {name: profile.totals[name] for name in FIGURES}


class Exported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name, "net.pt2")
        torch.export.save(exported(), cls.path)

    def command(self, verb, *words):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = _compile_command.main(verb, [*words, str(self.path), "--compile"])
        return code, out.getvalue(), errors.getvalue()

    def test_the_step_is_that_of_the_compiled_module(self):
        for settings in ({}, {"autocast": "bf16", "optimizer": "adamw"}):
            profile = symprof.profile(self.path, compile=True, **settings)
            module = symprof.profile(torch.compile(Net()), torch.randn(BATCH, WIDTH), **settings)
            self.assertEqual(figures(profile), figures(module), settings)
        self.assertTrue({"blocks.0", "blocks.1"} <= {".".join(node["module"].split(".")[:2]) for node in profile.nodes})

    def test_other_sizes(self):
        profile = symprof.profile(exported(), compile=True).at(batch=2 * BATCH)
        self.assertEqual(figures(profile), figures(symprof.profile(torch.compile(Net()), torch.randn(2 * BATCH, WIDTH))))

    def test_the_command_prints_the_same_figures(self):
        code, out, _ = self.command("profile", "--format", "json", "--set", f"batch={2 * BATCH}", "--loss", "mean")
        module = symprof.profile(torch.compile(Net()), torch.randn(2 * BATCH, WIDTH), loss=torch.Tensor.mean)
        self.assertEqual(code, 0)
        self.assertEqual({name: json.loads(out)["totals"][name] for name in FIGURES}, figures(module))

    def test_fit(self):
        code, out, _ = self.command("fit", "--device", "t4,h200")
        self.assertEqual(code, 0)
        self.assertIn("net.pt2 fits into 2 of 2 devices", out)

    def test_throughput(self):
        """Each batch's step is that of a profile; the export's largest batch is the last one."""
        code, out, _ = self.command("plan", "throughput", "--device", "h200", "--format", "json")
        self.assertEqual(code, 0)
        rows = json.loads(out)["devices"][0]["batches"]
        self.assertEqual([row["batch"] for row in rows], [1, 2, 4, 8, 16, 32, 64])
        profile = symprof.profile(self.path, compile=True, device="h200", time=True).at(batch=16)
        self.assertAlmostEqual(rows[4]["step_time_us"], profile.totals["step_time_us"], places=3)
        self.assertEqual(rows[4]["peak_reserved_bytes"], profile.totals["peak_reserved_bytes"])

    def test_throughput_within_a_budget(self):
        profile = symprof.profile(self.path, compile=True, device="h200")
        least = profile.at(batch=1).data["memory"]["nvidia_smi_bytes"]
        self.assertTrue(profile.plan_throughput("h200", budget=str(least)))
        self.assertFalse(profile.plan_throughput("h200", budget=str(least - 1)))

    def test_what_is_wrong_is_said(self):
        self.assertEqual(self.command("profile", "--set", "batch")[::2],
                         (2, "symprof: --set: found 'batch', wanted NAME=SIZE.\n  For example --set batch=8.\n"))
        self.assertIn("plan checkpoint: has no --compile", self.command("plan", "checkpoint")[2])
        code, _, errors = self.command("profile", "--set", "batch=65")
        self.assertEqual(code, 2)
        self.assertIn("the program does not run", errors)
        with self.assertRaisesRegex(symprof.Error, "wanted a .pt2 file"):
            symprof.profile(Net(), torch.randn(BATCH, WIDTH), compile=True)


if __name__ == "__main__":
    unittest.main()
