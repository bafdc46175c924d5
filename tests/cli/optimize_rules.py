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
    def optimized(self, text, folder, *arguments):
        model = pathlib.Path(folder) / "model.onnx"
        subprocess.run([TEXT_TO_ONNX, str(model)], input=text.read_bytes(), check=True)
        done = subprocess.run([PROGRAM, "optimize", str(model), "-o", f"{folder}/out.onnx", "--verify", "--format", "json", *arguments],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return json.loads(done.stdout)

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
