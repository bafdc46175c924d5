"""Names of sizes, and formulas of them."""
import unittest
from fractions import Fraction

from foreign_files import FOREIGN, LENGTHS, PYTORCH, totals
from program import read, run


class Sizes(unittest.TestCase):
    def test_batch_and_seq_mean_the_symbols_of_an_export(self):
        """torch.export writes Dim("batch") as s77 or the like; integer inputs are [batch, seq]."""
        by_place = totals("nanogpt.pt2", "--set", "idx.0=3", "--set", "idx.1=40")
        self.assertEqual(totals("nanogpt.pt2", "--set", "batch=3", "--set", "seq=40"), by_place)
        largest = run("fit", f"{FOREIGN}/nanogpt.pt2", "--max", "batch", "--device", "t4")
        self.assertIn("largest      batch ", largest.stdout)

    def test_a_name_that_an_input_does_not_have_is_refused(self):
        refused = run("profile", f"{FOREIGN}/nanogpt.pt2", "--set", "btach=3")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("no input has a dimension called 'btach'", refused.stderr)


class Names(unittest.TestCase):
    def test_every_dimension_can_be_named(self):
        sizes = ["--set", "rows=3", "--set", "words=40"]
        named = totals("nanogpt.pt2", "--input", "idx=[rows,words]", *sizes)
        self.assertEqual(named, totals("nanogpt.pt2", "--set", "idx.0=3", "--set", "idx.1=40"))
        fixed = totals("frames.pt2", "--input", "x=[rows,6,8]", "--set", "rows=3", "--input", LENGTHS)
        self.assertEqual(fixed, totals("frames.pt2", "--input", LENGTHS))
        script = totals("loops.pt", "--input", "x=float32[rows,8]", "--set", "rows=3", "--input", LENGTHS)
        self.assertEqual(script["fwd_flops"], PYTORCH["loops"]["fwd_flops"])

    def test_an_unknown_name_lists_what_there_is(self):
        refused = run("profile", f"{FOREIGN}/nanogpt.pt2", "--set", "tokens=3")
        self.assertEqual(refused.returncode, 2)
        for part in ("Known: ", "idx.0, idx.1", "or name them with --input idx=[batch,seq]."):
            self.assertIn(part, refused.stderr)


class ShortRanges(unittest.TestCase):
    def test_rounder_sizes_within_a_limit(self):
        """Attention's log-sum-exp has multiples of 32 rows, and the file's tokens end at 128."""
        report = read("profile", f"{FOREIGN}/nanogpt.pt2", "--symbolic", "idx.0,idx.1")
        for figure in ("saved_bytes", "saved_bytes_with_inputs"):
            self.assertEqual(report["totals"][figure]["multiples_of"], {"idx.0": 1, "idx.1": 32})
        terms = {tuple(term["powers"].items()): Fraction(term["coefficient"])
                 for term in report["totals"]["saved_bytes"]["terms"]}
        for batch, tokens in ((3, 32), (5, 96)):
            saved = sum(value * batch ** dict(powers).get("idx.0", 0) * tokens ** dict(powers).get("idx.1", 0)
                        for powers, value in terms.items())
            self.assertEqual(saved, totals("nanogpt.pt2", "--set", f"batch={batch}", "--set", f"seq={tokens}")[
                "saved_bytes"])
