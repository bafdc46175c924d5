"""An output_code.py that torch.compile wrote elsewhere (truth/compiled/code: PyTorch's CUDA build): its kernels and figures are those of the
same module compiled here, and it runs only if that is asked for, in another process."""
import contextlib
import functools
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

os.environ["XDG_CACHE_HOME"] = os.devnull  # No folder for graphs of earlier runs.

import symprof  # Before torch.
from symprof import _code_command

import torch

CODE = pathlib.Path(__file__).resolve().parents[2] / "truth" / "compiled" / "code"
sys.path.insert(0, str(CODE))
import make  # noqa: E402

WIDTH, BATCH = make.WIDTH, make.BATCH


def command(*words):
    """Its code, its JSON, and what it tells of errors. The child writes to its own standard error."""
    errors = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(errors):
        out = pathlib.Path(folder, "out.json")
        code = _code_command.main([*map(str, words), "--format", "json", "-o", str(out)])
        return code, json.loads(out.read_text()) if out.exists() else None, errors.getvalue()


@functools.cache
def profile_of(name):
    code, data, errors = command(CODE / name, "--trust-code")
    assert code == 0, errors
    return data


def calls_of(data):
    return sorted((call for node in data["nodes"] for call in node["calls"]), key=lambda call: call["call"])


def kernels_of(calls, phase):
    """Kernels and products."""
    return [(call["op"], call["flops"], call["bytes_read"], call["bytes_written"]) for call in calls
            if call["phase"] == phase and (call["op"].startswith("triton::") or call["op"] in ("aten::mm", "aten::addmm"))]


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with symprof.simulate() as run:
            net, x = make.Net().cuda(), torch.randn(BATCH, WIDTH, device="cuda")
            compiled = torch.compile(net)
            for _ in range(2):
                compiled(x).backward()
                run.end_step()
        cls.compiled = run.profile

    def check(self, name, phase):
        data = profile_of(name)
        found, wanted = kernels_of(calls_of(data), phase), kernels_of(self.compiled.calls, phase)
        self.assertEqual([kernel[:3] for kernel in found], [kernel[:3] for kernel in wanted])
        for kernel, other in zip(found, wanted, strict=True):  # Inductor counts a value that is written over in the same kernel.
            self.assertAlmostEqual(kernel[3] / other[3], 1, delta=0.02, msg=kernel[0])
        return data

    def test_a_forward_pass(self):
        data = self.check("output_code_forward.py", "forward")
        self.assertEqual(data["totals"]["fwd_flops"], self.compiled.totals["fwd_flops"])

    def test_a_backward_pass(self):
        data = self.check("output_code_backward.py", "backward")
        self.assertEqual(data["totals"]["bwd_flops"], self.compiled.totals["bwd_flops"])

    def test_memory_is_that_of_the_code(self):
        """Its inputs, then buffers in order: hidden values before and after GELU at least."""
        memory = profile_of("output_code_forward.py")["memory"]
        numbers = [BATCH * WIDTH, *[4 * WIDTH * WIDTH] * 2, 4 * WIDTH, *[WIDTH] * 3]
        self.assertEqual(memory["at_peak"]["inputs"], sum(-(-4 * number // 512) * 512 for number in numbers))
        self.assertGreaterEqual(memory["requested_at_peak_bytes"], 4 * sum(numbers) + 2 * 4 * BATCH * 4 * WIDTH)


class Refusals(unittest.TestCase):
    def check(self, text, *words):
        code, data, errors = command(*words)
        self.assertEqual((code, data), (2, None))
        self.assertIn(text, errors)

    def test_code_runs_only_if_it_is_trusted(self):
        with tempfile.TemporaryDirectory() as folder:
            mark, file = pathlib.Path(folder, "mark"), pathlib.Path(folder, "output_code.py")
            file.write_text(f"open({str(mark)!r}, 'w')\n")
            self.check("--trust-code runs it, in a child process", file)
            self.assertFalse(mark.exists())

    def test_a_missing_file(self):
        self.check("there is no such file", "missing.py", "--trust-code")

    def test_a_script_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "train.py")
            file.write_text("print(1)\n")
            self.assertEqual(command(file, "--trust-code")[0], 2)


if __name__ == "__main__":
    unittest.main()
