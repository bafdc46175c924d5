"""Models that other packages' users export, each the smallest file that shows what once went wrong (tests/zoo/foreign).

    foreign.py PROGRAM [unittest arguments]

Standard library only.
"""
import pathlib
import tempfile
import unittest
import zipfile
from fractions import Fraction

import program
from program import ROOT, read, run

FOREIGN = "tests/zoo/foreign"


def totals(name, *arguments):
    return read("profile", f"{FOREIGN}/{name}", *arguments)["totals"]


class Traces(unittest.TestCase):
    def test_a_number_of_python_promotes_as_a_number(self):
        """exp(arange(8) * -0.5) is float32, as torch.jit.load(...)(x) gives it: Linear(8, 4) of [3, 8]."""
        found = totals("sincos.pt")
        self.assertEqual(found["fwd_flops"], 2 * 3 * 8 * 4)
        self.assertEqual(found["saved_bytes"], 3 * 8 * 4)

    def test_shape_as_tensor_reads_sizes_alone(self):
        """Linear(8, 8) of [4, 8], divided by a size."""
        self.assertEqual(totals("shape_as_tensor.pt")["fwd_flops"], 2 * 4 * 8 * 8)

    def test_a_deflated_archive_is_read(self):
        source = "models/resnet50.pt"
        with tempfile.TemporaryDirectory() as folder:
            packed = pathlib.Path(folder) / "resnet50.pt"
            with zipfile.ZipFile(ROOT / source) as plain, \
                    zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as deflated:
                for record in plain.namelist():
                    deflated.writestr(record, plain.read(record))
            self.assertEqual(read("profile", str(packed))["totals"], read("profile", source)["totals"])


class Onnx(unittest.TestCase):
    def test_pads_of_the_last_axis_alone(self):
        """Reflected and repeated edges: two columns on either side of [N, C, H, W]."""
        for name in ("pad_reflect_w.onnx", "pad_edge_w.onnx"):
            with self.subTest(name):
                nodes = read("profile", f"{FOREIGN}/{name}")["nodes"]
                before, after = (next(node for node in nodes if node["op"] == op)["outputs"][0]
                                 for op in ("input", "onnx::Pad"))
                self.assertEqual(after["shape"][:-1], before["shape"][:-1])
                self.assertGreater(after["shape"][-1], before["shape"][-1])


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


if __name__ == "__main__":
    program.main()
