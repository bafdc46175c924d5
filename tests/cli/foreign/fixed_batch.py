"""A batch other than the one that a file fixes."""
import unittest
from fractions import Fraction

from foreign_files import FOREIGN, totals
from program import read, run


class FixedBatch(unittest.TestCase):
    """A file that fixes its batch, asked for another one, against the same model exported with that one
    (fixed_batch.py): every row, call and total."""

    FOLDER = f"{FOREIGN}/fixed_batch"

    def assert_same(self, asked, other, batch, *arguments):
        found = read("profile", f"{self.FOLDER}/{asked}", "--set", f"batch={batch}", *arguments)
        wanted = read("profile", f"{self.FOLDER}/{other}", *arguments)
        for key in ("totals", "nodes", "memory", "coverage"):
            self.assertEqual(found[key], wanted[key], f"{asked} {key}")
        return [warning for warning in found["warnings"] if warning not in wanted["warnings"]]

    def test_rows_are_those_of_the_other_export(self):
        for name in ("mlp", "vit", "gpt", "conv", "lstm", "einops", "detector", "contrastive", "clip"):
            with self.subTest(name):
                self.assertEqual(self.assert_same(f"{name}_b2.pt2", f"{name}_b6.pt2", 6), [])

    def test_a_smaller_batch_and_inference(self):
        for name in ("vit.pt2", "lstm.pt2", "contrastive.onnx"):
            base, suffix = name.split(".")
            with self.subTest(name):
                self.assert_same(f"{base}_b6.{suffix}", f"{base}_b2.{suffix}", 2, "--mode", "inference")

    def test_onnx_and_traces(self):
        for name in ("mlp.onnx", "gpt.onnx", "contrastive.onnx", "numbers.pt"):
            base, suffix = name.split(".")
            with self.subTest(name):
                self.assertEqual(self.assert_same(f"{base}_b2.{suffix}", f"{base}_b6.{suffix}", 6), [])

    def test_a_batch_of_one_sample(self):
        self.assert_same("vit_b1.pt2", "vit_b6.pt2", 6)
        warnings = read("profile", f"{self.FOLDER}/repeated_b1.pt2", "--set", "batch=6")["warnings"]
        self.assertTrue(any("does not tell which sizes of 1 are the batch" in text and "ones (aten::ones)" in text
                            for text in warnings), warnings)

    def test_the_files_own_batch_changes_nothing(self):
        self.assert_same("gpt_b2.pt2", "gpt_b2.pt2", 2)

    def test_with_other_settings(self):
        self.assert_same("vit_b2.pt2", "vit_b6.pt2", 6, "--autocast", "bf16", "--optimizer", "adamw")
        self.assert_same("gpt_b2.pt2", "gpt_b6.pt2", 6, "--dtype", "bf16", "--split-bias")

    def test_largest_batch(self):
        for name in ("vit_b2.pt2", "gpt_b2.onnx", "numbers_b2.pt"):
            with self.subTest(name):
                fitted = run("fit", f"{self.FOLDER}/{name}", "--max", "batch", "--device", "t4")
                self.assertRegex(fitted.stdout, r"largest      batch [\d,]+ fits")

    def test_formulas(self):
        """Each against profiles of the files at sizes that made none of them: the file of six samples is one."""
        for name in ("vit", "clip", "contrastive"):
            report = read("profile", f"{self.FOLDER}/{name}_b2.pt2", "--symbolic", "batch")
            for path, batch in ((f"{name}_b6.pt2", 6), (f"{name}_b2.pt2", 14)):
                wanted = totals(f"fixed_batch/{path}", "--set", f"batch={batch}")
                for figure in ("fwd_flops", "bwd_flops", "saved_bytes", "input_bytes"):
                    terms = report["totals"][figure]["terms"]
                    found = sum(Fraction(term["coefficient"]) * batch ** term["powers"].get("batch", 0)
                                for term in terms)
                    self.assertEqual(found, wanted[figure], f"{name} {figure} at {batch}")

    def test_what_cannot_be_is_refused(self):
        refusals = {"table_b2.pt2": ["node add", "'place_ids' of [2, 5] may have a row for each sample"],
                    "one_by_one_b2.pt2": ["takes the samples of the batch one by one"],
                    "unforced_b2.pt2": ["node ones", "has a size of 2, and the model runs whether"]}
        for name, texts in refusals.items():
            for command, where in ((("profile", "--set", "batch=6"), "--set batch=6: "),
                                   (("profile", "--symbolic", "batch"), "--symbolic batch: "),
                                   (("fit", "--max", "batch"), "--max batch: ")):
                with self.subTest(name, command=command):
                    refused = run(command[0], f"{self.FOLDER}/{name}", *command[1:])
                    self.assertEqual(refused.returncode, 2)
                    for text in [where + "the file fixes its batch at 2", 'torch.export.Dim("batch")', *texts]:
                        self.assertIn(text, refused.stderr)

    def test_inputs_of_different_sizes_have_no_batch(self):
        refused = run("profile", "tests/zoo/models/gcn.pt2", "--set", "batch=6")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("no input has a dimension called 'batch'", refused.stderr)
        self.assertIn('torch.export.Dim("batch")', refused.stderr)
