"""Every rule of `symprof optimize` on a small model that it applies to: it is applied, and values stay.

    optimize_rules.py PROGRAM TEXT_TO_ONNX [unittest arguments]

`tests/workbench/rules/RULE.txt` is the model of a rule, in ONNX's text syntax. `--verify` runs both graphs, and lets
onnx's checker look at types and shapes.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = TEXT_TO_ONNX = ""
RULES = pathlib.Path(__file__).resolve().parents[1] / "workbench" / "rules"


class Rules(unittest.TestCase):
    def run_on(self, text, folder, *arguments):
        model = pathlib.Path(folder) / "model.onnx"
        subprocess.run([TEXT_TO_ONNX, str(model)], input=text.read_bytes(), check=True)
        return subprocess.run([PROGRAM, "optimize", str(model), "-o", f"{folder}/out.onnx", "--format", "json", *arguments],
                              capture_output=True, text=True, timeout=60)

    def optimized(self, text, folder, *arguments):
        done = self.run_on(text, folder, "--verify", *arguments)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return json.loads(done.stdout)

    def test_a_rule_that_changes_values_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            # Only rounding differs, and tolerance 0 refuses even that.
            done = self.run_on(RULES / "conv_batch_norm.txt", folder, "--verify", "--tolerance", "0")
            self.assertEqual(done.returncode, 1, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(report["values"]["broken_by"], "conv_batch_norm")
            self.assertFalse((pathlib.Path(folder) / "out.onnx").exists())

    def test_random_values_are_refused(self):
        text = pathlib.Path(tempfile.mkdtemp()) / "random.txt"
        text.write_text('<ir_version: 10, opset_import: ["" : 21]>\ngraph (float[2, 3] x) => (float[2, 3] y)\n'
                        "{ r = RandomNormalLike (x)\n y = Add (x, r) }\n")
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_on(text, folder, "--verify")
            self.assertEqual(done.returncode, 2)
            self.assertIn("the values of 'y' differ from run to run", done.stderr)
        text.unlink()
        text.parent.rmdir()

    def test_savings_of_rules_are_those_of_the_model(self):
        for name in ("layer_norm", "equal", "conv_batch_norm"):
            with self.subTest(model=name), tempfile.TemporaryDirectory() as folder:
                report = json.loads(self.run_on(RULES / f"{name}.txt", folder, "--savings").stdout)
                for figure in ("fwd_flops_all", "bwd_flops_all", "moved_bytes", "saved_bytes"):
                    saved = sum(rule["saved"][figure] for rule in report["rules"])
                    self.assertEqual(saved, report["before"][figure] - report["after"][figure], figure)
                self.assertGreater(report["before"]["moved_bytes"], report["after"]["moved_bytes"])

    def test_each_rule(self):
        listed = subprocess.run([PROGRAM, "optimize", "--list"], capture_output=True, text=True, check=True).stdout
        names = [line.split()[0] for line in listed.splitlines()]
        self.assertEqual(sorted(names), sorted(path.stem for path in RULES.glob("*.txt")))
        for name in names:
            with self.subTest(rule=name), tempfile.TemporaryDirectory() as folder:
                report = self.optimized(RULES / f"{name}.txt", folder, "--only", f"{name},constant_folding")
                rule = next(one for one in report["rules"] if one["name"] == name)
                self.assertGreater(rule["times"], 0)
                self.assertEqual(report["warnings"], [])
                self.assertTrue(all(one["is_within"] for one in report["values"]["outputs"]))

    def test_all_rules_together(self):
        for text in sorted(RULES.glob("*.txt")):
            for level in ("standard", "training"):
                with self.subTest(model=text.stem, level=level), tempfile.TemporaryDirectory() as folder:
                    self.assertEqual(self.optimized(text, folder, "--fused", level)["warnings"], [])


if __name__ == "__main__":
    PROGRAM, TEXT_TO_ONNX = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
