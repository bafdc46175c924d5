"""Asks `symprof fit` as a user would: the answer, the largest size, what would make it fit.

    fit.py PROGRAM [unittest arguments]
"""
import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPT2 = "models/gpt2.pt2"
DYNAMIC = "models/tiny/dynamic_shapes.pt2"
PROGRAM = ""


def fit(*arguments):
    return subprocess.run([PROGRAM, "fit", *arguments], cwd=ROOT, capture_output=True, text=True,
                          timeout=120)


def answer(*arguments, code=0):
    result = fit(*arguments, "--format", "json")
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout)


class Fit(unittest.TestCase):
    def test_yes_with_the_margin(self):
        found = answer(GPT2, "--optimizer", "adamw", "--context", "600MiB")
        self.assertEqual(found["schema"], "symprof.fit/1")
        self.assertTrue(found["fits"])
        device = found["device"]
        self.assertEqual(device["context_bytes"], 600 * 2**20)
        self.assertEqual(found["margin_bytes"], device["memory_bytes"] - device["context_bytes"] -
                         found["peak_reserved_bytes"])
        self.assertEqual(sum(found["memory"]["at_peak"].values()), found["peak_allocated_bytes"])
        self.assertEqual(found["changes"], [])

    def test_the_figures_are_those_of_profile(self):
        result = subprocess.run([PROGRAM, "profile", GPT2, "--format", "json"], cwd=ROOT,
                                capture_output=True, text=True, timeout=120)
        totals = json.loads(result.stdout)["totals"]
        found = answer(GPT2)
        for key in ["peak_allocated_bytes", "peak_reserved_bytes", "peak_at"]:
            self.assertEqual(found[key], totals[key], key)

    def test_no_says_where_and_what_would_help(self):
        memory = answer(GPT2, "--optimizer", "adamw")["device"]["memory_bytes"]
        context = f"{memory - 4 * 2**30}B"  # 4 GiB are left.
        found = answer(GPT2, "--optimizer", "adamw", "--context", context, code=1)
        self.assertFalse(found["fits"])
        self.assertLess(found["margin_bytes"], 0)
        changes = found["changes"]
        self.assertIn("--autocast bf16", [change["change"] for change in changes])
        peaks = [change["peak_reserved_bytes"] for change in changes]
        self.assertEqual(peaks, sorted(peaks))
        self.assertLess(peaks[-1], found["peak_reserved_bytes"])
        text = fit(GPT2, "--optimizer", "adamw", "--context", context)
        self.assertEqual(text.returncode, 1)
        self.assertIn("does not fit into NVIDIA H200", text.stdout)
        self.assertIn("refused      a request in ", text.stdout)
        # Each is what the command line says it is.
        best = changes[0]
        again = answer(GPT2, "--optimizer", "adamw", *best["change"].split(), "--context", context,
                       code=0 if best["fits"] else 1)
        self.assertEqual(again["peak_reserved_bytes"], best["peak_reserved_bytes"])

    def test_the_largest_size_fits_and_the_next_does_not(self):
        memory = answer(DYNAMIC)["device"]["memory_bytes"]
        context = f"{memory - 200 * 2**20}B"
        largest = answer(DYNAMIC, "--max", "x.0", "--context", context)["largest"]
        size = largest["size"]
        self.assertEqual(largest["dimension"], "x.0")
        answer(DYNAMIC, "--set", f"x.0={size}", "--context", context)
        if largest["refused_size"] is not None:
            self.assertEqual(largest["refused_size"], size + 1)
            answer(DYNAMIC, "--set", f"x.0={size + 1}", "--context", context, code=1)

    def test_bad_questions(self):
        for arguments, text in [
                (["--max", "nothing"], "no input has a dimension called 'nothing'"),
                (["--context", "many"], "'many' is no number of bytes"),
                (["--context", "500GiB"], "leaves nothing of the device's memory"),
                (["--alloc-conf", "max_split:3"], "max_split is no setting of the allocator")]:
            result = fit(DYNAMIC, *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stdout, "")
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
