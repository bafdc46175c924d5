"""Small training scripts of truth/stacks, beside what PyTorch's own run of each says (truth/stacks/references.json)."""
import contextlib
import io
import json
import pathlib
import sys
import unittest
import warnings
from typing import Any

import symprof  # noqa: F401  Before torch.
from symprof import _run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "truth" / "stacks"))
import header  # noqa: E402
import verdict  # noqa: E402

NAMES = ["accumulate_scaler", "adafactor", "anomaly_mode", "backward_adam_hooks", "checkpoint_nonreentrant", "closure_lbfgs", "closure_sam", "distillation",
         "func_ensemble", "gan_alternating", "gan_penalty", "moco", "pcgrad", "tensor_parallel"]


def report_of(told: header.Header) -> dict[str, Any]:
    options = _run.parser().parse_args(["--device", "h100", *told.arguments, str(told.path)])
    argv, path = list(sys.argv), list(sys.path)
    try:
        with warnings.catch_warnings(action="ignore"), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return json.loads(_run.run_script(options).json)
    finally:
        sys.argv, sys.path[:] = argv, path


class Stacks(unittest.TestCase):
    def test_reports_are_what_pytorch_says(self):
        kept = verdict.references()
        for told in header.scripts(NAMES):
            with self.subTest(told.name):
                found = verdict.of_report(told, report_of(told), kept[told.name])
                self.assertEqual(found.kind, "right", found.why)

    def test_another_figure_is_wrong(self):
        told, = header.scripts(["adafactor"])
        report, kept = report_of(told), verdict.references()[told.name]
        for key in verdict.COMPARED:
            changed = {"cpu": {"iteration": {**kept["cpu"]["iteration"], key: kept["cpu"]["iteration"][key] + 1}}}
            self.assertEqual(verdict.of_report(told, report, changed).kind, "wrong", key)

    def test_known_causes_are_few(self):
        causes, scripts = verdict.causes(), {told.name for told in header.scripts()}
        self.assertLessEqual(len(causes), len(scripts) // 5)
        self.assertEqual(causes.keys() - scripts, set())


if __name__ == "__main__":
    unittest.main()
