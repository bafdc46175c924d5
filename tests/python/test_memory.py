"""Memory snapshots of PyTorch as Python values."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import symprof

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOY = ROOT / "tests/snapshot/attention_toy.pickle"
STEPS = ROOT / "tests/fuzz/corpus/snapshot/steps"


class OneSnapshot(unittest.TestCase):
    def test_figures_are_those_of_the_command(self):
        seen = symprof.memory(TOY)
        self.assertEqual(seen.data["schema"], "symprof.memory/1")
        self.assertEqual(seen.peak_allocated_bytes, seen.data["peaks"]["allocated"]["bytes"])
        self.assertEqual(seen.peak_reserved_bytes, seen.data["peaks"]["reserved"]["bytes"])
        self.assertEqual(sum(line["bytes"] for line in seen.lines), seen.peak_allocated_bytes)
        self.assertEqual(sum(module["bytes"] for module in seen.modules), seen.peak_allocated_bytes)
        self.assertEqual(json.loads(seen.json), seen.data)

    def test_it_prints_the_table(self):
        seen = symprof.memory(TOY)
        self.assertIn("trace_peak_memory.py:7 custom_softmax", str(seen))
        self.assertIn("Module, at the peak", seen.table("module"))
        self.assertLess(len(seen.table(top=1).splitlines()), len(seen.table().splitlines()))
        with self.assertRaisesRegex(symprof.Error, "line, module"):
            seen.table("node")

    def test_it_writes_the_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "memory.html"
            symprof.memory(str(TOY)).html(page)
            self.assertIn("custom_softmax", page.read_text(encoding="utf-8"))

    def test_a_leak_has_its_line(self):
        self.assertEqual([leak["line"] for leak in symprof.memory(STEPS).leaks], ["train_log.py:7 log"])

    def test_what_is_no_snapshot_is_an_error(self):
        with self.assertRaises(symprof.Error):
            symprof.memory(ROOT / "models/gpt2.pt2")
        with self.assertRaisesRegex(symprof.Error, "no device 3"):
            symprof.memory(TOY, device=3)


class BesideThePrediction(unittest.TestCase):
    def run_script(self, *arguments):
        return subprocess.run([sys.executable, "-m", "symprof", "run", "--device", "a100-80g", "--alloc-conf", "torch:2.6", *arguments,
                               "--measured-memory", TOY, ROOT / "truth/snapshots/public_runs.py", "attention_toy"],
                              capture_output=True, text=True)

    def test_a_run_on_a_gpu_is_predicted_to_the_byte(self):
        done = self.run_script("--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)["measured_memory"]
        self.assertEqual((answer["equal_requests"], answer["differing"], answer["differences"]), (36, [], []))
        for side in ("measured", "predicted"):
            self.assertEqual(answer[side]["peak_allocated_bytes"], 3249144832)
            self.assertEqual(answer[side]["peak_reserved_bytes"], 3781165056)

    def test_runs_of_the_stub_driver_are_predicted_to_the_byte(self):
        script = ROOT / "truth/snapshots/settings.py"
        for case in ("all", "streams", "pools"):
            with self.subTest(case):
                measured = script.parent / f"settings/{case}.pickle.gz"
                done = subprocess.run([sys.executable, "-m", "symprof", "run", "--all", "--format", "json", "--measured-memory", measured,
                                       script, "run", case], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                answer = json.loads(done.stdout)["measured_memory"]
                self.assertEqual((answer["equal_share"], answer["differing"], answer["differences"]), (1, [], []))
                self.assertEqual(answer["measured"]["peak_reserved_bytes"], answer["predicted"]["peak_reserved_bytes"])

    def test_the_table_has_the_verdict(self):
        done = self.run_script()
        self.assertIn("the prediction holds", done.stdout, done.stderr)
        done = self.run_script("--format", "csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no place for a measured history", done.stderr)

    def test_a_profile_says_what_differs(self):
        seen = symprof.profile(ROOT / "models/gpt2.pt2").measured_memory(TOY)
        self.assertEqual(seen.data["schema"], "symprof.measured_memory/1")
        self.assertLess(seen.equal_share, 0.5)
        self.assertIn("another program", seen.verdict)
        self.assertIn(seen.verdict, str(seen))
        self.assertLess(len(seen.table(top=1).splitlines()), len(seen.table().splitlines()))


class TwoSnapshots(unittest.TestCase):
    def test_changes_add_up_to_the_growth(self):
        before, after = symprof.memory(STEPS), symprof.memory(TOY)
        both = symprof.memory(STEPS, TOY)
        grown = after.peak_allocated_bytes - before.peak_allocated_bytes
        self.assertAlmostEqual(both.growth, grown / before.peak_allocated_bytes)
        self.assertEqual(sum(line["bytes"] for line in both.lines), grown)
        self.assertEqual(sum(module["bytes"] for module in both.modules), grown)
        self.assertIn("DivBackward0", str(both))

    def test_one_snapshot_twice_is_no_change(self):
        both = symprof.memory(TOY, TOY)
        self.assertEqual(both.growth, 0)
        self.assertTrue(all(line["bytes"] == 0 for line in both.lines))


if __name__ == "__main__":
    unittest.main()
