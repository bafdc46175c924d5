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

    def left_of(self, text, *arguments):
        """The nodes that are left of a model in ONNX's text syntax."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.txt"
            path.write_text(text)
            return self.optimized(path, folder, *arguments)["nodes_after"]

    def test_a_choice_that_drops_what_a_cast_left_undefined_is_folded(self):
        # Log(0) is minus infinity, of which ONNX says no integer.
        def left(near):
            return self.left_of(
                '<ir_version: 8, opset_import: ["" : 17]>\ngraph (int64[3] x) => (int64[3] y)\n'
                "<float[3] d = {0, 1, 8}, int64[3] least = {0, 1, 2}, int64[3] most = {2, 2, 2},\n"
                f" bool[3] near = {{{near}}}>\n"
                "{ l = Log (d)\n b = Cast <to = 7> (l)\n c = Min (b, most)\n w = Where (near, least, c)\n y = Add (x, w) }\n")

        self.assertEqual(left("1, 0, 0"), 1)
        self.assertEqual(left("1, 1, 1"), 1)
        self.assertEqual(left("0, 1, 1"), 4)

    def test_a_norm_without_a_scale_gets_one_of_ones(self):
        def left(last):
            return self.left_of(
                '<ir_version: 8, opset_import: ["" : 17]>\ngraph (float[2, 4] x, float[4] w) => (float[2, 4] y)\n'
                "<float two = {2}, float e = {0.00001}>\n"
                "{ p = Pow (x, two)\n m = ReduceMean <axes = [-1]> (p)\n s = Add (m, e)\n r = Sqrt (s)\n"
                f" {last} }}\n", "--fused", "microsoft")

        self.assertEqual(left("y = Div (x, r)"), 1)
        self.assertEqual(left("n = Div (x, r)\n y = Mul (n, w)"), 1)
        self.assertEqual(left("n = Div (x, r)\n y = Add (n, x)"), 2)

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
