"""Asks `symprof fit --lengths` as a user would.

    fit_run.py PROGRAM [unittest arguments]
"""
import csv
import io
import json
import pathlib
import tempfile
import unittest

import program

ENCODER = "models/tiny/encoder.pt2"
STEP = (ENCODER, "--optimizer", "adamw", "--device", "rtx4090")
NAMES = ("--length-dim", "x.1")
DRAWN = ("--lengths", "lognormal:median=100,sigma=0.7,max=512,count=160")
FOUR = ("--batch-by", "samples=4")


def answer(*arguments, code=0):
    return program.read("fit", *STEP, *NAMES, *arguments, code=code)


def of_shapes(shapes, *arguments, code=0):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "shapes.json"
        path.write_text(json.dumps(shapes))
        return answer("--lengths", str(path), *arguments, code=code)


def leaving(available):
    """The context that leaves so many bytes of the device."""
    return "--context", str(alone(1, 4)["device"]["memory_bytes"] - available)


def alone(batch, length, *arguments):
    """The same step in a loop of its own."""
    return program.read("fit", *STEP, "--set", f"batch={batch}", "--set", f"x.1={length}", *arguments)


class RunFit(unittest.TestCase):
    def test_a_run_of_one_shape_is_the_loop_of_fit(self):
        for passes in (1, 2, 3):
            with self.subTest(passes=passes):
                run = of_shapes([[8, 300]] * (3 * passes), "--micro-batches", str(passes))
                loop = alone(8, 300, "--micro-batches", str(passes))
                for key in ("peak_allocated_bytes", "peak_reserved_bytes", "margin_bytes"):
                    self.assertEqual(run[key], loop[key])

    def test_the_allocated_peak_is_the_largest_of_the_shapes(self):
        shapes = [[8, 300], [4, 512], [16, 90], [8, 300]]
        run = of_shapes(shapes)
        peaks = [alone(*shape)["peak_allocated_bytes"] for shape in shapes]
        self.assertEqual(run["peak_allocated_bytes"], max(peaks))
        peak = run["passes"][run["peak_pass"]]
        self.assertEqual([peak["samples"], peak["length"]], shapes[peaks.index(max(peaks))])

    def test_the_longest_first_reserves_what_it_reserves_alone(self):
        run = of_shapes([[8, length] for length in (512, 512, 512, 400, 300, 200, 100)])
        self.assertEqual(run["peak_reserved_bytes"], alone(8, 512)["peak_reserved_bytes"])

    def test_a_refused_batch_is_named_and_the_run_ends_there(self):
        shapes = [[8, 100], [8, 512], [8, 100]]
        needed = alone(8, 512)["peak_allocated_bytes"]
        run = of_shapes(shapes, *leaving(needed - 1), code=1)
        self.assertFalse(run["fits"])
        self.assertEqual(run["refused"]["pass"], 1)
        self.assertEqual(len(run["passes"]), 2)

    def test_an_evaluation_leaves_nothing_behind(self):
        shapes = [[8, 200]] * 4
        run = of_shapes(shapes, "--between", "eval@2:batch=32,x.1=64")
        self.assertEqual([one["kind"] for one in run["passes"]], ["batch", "batch", "eval"] * 2)
        for before, after in ((1, 2), (4, 5)):
            self.assertEqual(run["passes"][after]["allocated_bytes"], run["passes"][before]["allocated_bytes"])
        plain = of_shapes(shapes)
        self.assertEqual(run["passes"][-2]["allocated_bytes"], plain["passes"][-1]["allocated_bytes"])

    def test_a_last_window_may_be_short(self):
        run = of_shapes([[8, 200]] * 5, "--micro-batches", "2")
        self.assertEqual([one["update"] for one in run["passes"]], [0, 0, 1, 1, 2])
        alone_there = of_shapes([[8, 200]] * 5)
        # The last window of one pass ends as a loop of such windows does.
        self.assertEqual(run["passes"][-1]["allocated_bytes"], alone_there["passes"][-1]["allocated_bytes"])

    def test_the_largest_budget_fits_and_one_more_does_not(self):
        small = leaving(150 * 2**20)
        found = answer(*DRAWN, "--batch-by", "tokens=512", "--max", "tokens", *small)["largest"]
        self.assertEqual(found["of"], "tokens")
        fits = answer(*DRAWN, "--batch-by", f"tokens={found['size']}", *small)
        self.assertTrue(fits["fits"])
        # Without a limit it would reserve more: on the device the allocator gives cached segments back.
        self.assertGreater(fits["alloc_retries"], 0)
        self.assertLess(found["peak_reserved_bytes"], fits["peak_reserved_bytes"])
        self.assertLessEqual(found["peak_reserved_bytes"], fits["available_bytes"])
        self.assertFalse(answer(*DRAWN, "--batch-by", f"tokens={found['refused_size']}", *small, code=1)["fits"])

    def test_shuffled_epochs_are_those_of_their_seeds(self):
        small = leaving(60 * 2**20)
        plain = program.run("fit", *STEP, *NAMES, *DRAWN, *FOUR, *small, "--shuffles", "3", "--format", "json")
        refused = json.loads(plain.stdout)["shuffles"]["refused_seeds"]
        for seed in (1, 2, 3):
            one = program.run("fit", *STEP, *NAMES, *DRAWN, *FOUR, *small, "--shuffle-seed", str(seed))
            self.assertEqual(one.returncode, int(seed in refused), one.stderr)

    def test_other_settings_of_the_allocator_are_tried_unless_told(self):
        plain, alone_run = answer(*DRAWN, *FOUR), answer(*DRAWN, *FOUR, "--no-trials")
        self.assertEqual(len(plain["tried"]), 4)
        self.assertEqual(alone_run["tried"], [])
        self.assertEqual(alone_run["passes"], plain["passes"])
        for one in plain["tried"]:
            given = answer(*DRAWN, *FOUR, "--no-trials", "--alloc-conf", one["alloc_conf"])
            self.assertEqual(given["peak_reserved_bytes"], one["peak_reserved_bytes"])

    def test_times_are_sums_over_the_steps(self):
        run = of_shapes([[8, 300], [8, 100], [8, 300]], "--time")
        steps = [program.read("profile", *STEP, "--set", "batch=8", "--set", f"x.1={length}", "--time")["time"] for length in (300, 100)]
        for ours, of_step in (("low_us", "step_time_low_us"), ("high_us", "step_time_high_us")):
            self.assertAlmostEqual(run["time"][ours], 2 * steps[0][of_step] + steps[1][of_step], places=2)
        self.assertTrue(run["time"]["low_us"] < run["time"]["us"] < run["time"]["high_us"])

    def test_csv_has_a_line_for_each_pass(self):
        result = program.run("fit", *STEP, *NAMES, *DRAWN, *FOUR, "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        passes = answer(*DRAWN, *FOUR)["passes"]
        self.assertEqual([int(row["reserved_bytes"]) for row in rows], [one["reserved_bytes"] for one in passes])

    def test_the_table_says_which_batch_peaks(self):
        result = program.run("fit", *STEP, *NAMES, *DRAWN, *FOUR)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"peak +[\d.]+ MiB allocated, in batch \d+ \(4 x 512\)")
        self.assertRegex(result.stdout, r"padding +[\d.]+ % of [\d,]+ tokens")

    def test_questions_that_lack_something(self):
        for arguments, words in [
                ((*DRAWN,), "nothing says how samples become batches"),
                ((*DRAWN, *FOUR, "--max", "tokens"), "are cut by another size"),
                ((*DRAWN, *FOUR, "--between", "save@5"), "'save@5' is not known"),
                ((*DRAWN, *FOUR, "--plan"), "not answered together with --lengths"),
                ((*FOUR,), "--batch-by: is about a run whose batches differ"),
                (("--format", "csv"), "csv has a line for each pass"),
                ((*DRAWN, "--batch-by", "words=4"), "--batch-by words=4")]:
            with self.subTest(arguments=arguments):
                names = NAMES if "--lengths" in arguments else ()
                result = program.run("fit", *STEP, *names, *arguments)
                self.assertEqual(result.returncode, 2, result.stdout)
                self.assertIn(words, result.stderr)


if __name__ == "__main__":
    program.main()
