"""Models of packages against PyTorch."""
import json
import unittest

from foreign_files import FOREIGN, totals
from program import ROOT, read, run


class Packages(unittest.TestCase):
    OPTIONS = {"fp32": (), "bf16": ("--dtype", "bf16"), "autocast": ("--autocast", "bf16")}

    def test_flops_and_saved_bytes_are_pytorchs(self):
        """truth/foreign/ has the script that made files and figures. A peak that is neither the module's nor its program's
        has a cause in docs/evaluation/foreign.md, and is not here."""
        expected = sorted((ROOT / FOREIGN / "packages").glob("*.json"))
        self.assertTrue(expected)
        for path in expected:
            for setting, figures in json.loads(path.read_text()).items():
                with self.subTest(f"{path.stem} {setting}"):
                    found = totals(f"packages/{path.stem}.pt2", *self.OPTIONS[setting])
                    peak = figures.pop("peak_bytes", None)
                    self.assertEqual({key: found[key] for key in figures}, figures)
                    if peak is not None:
                        self.assertLessEqual(abs(found["peak_tensor_bytes"] - peak), 0.005 * peak)

    def test_names_that_one_line_gives_to_several_values(self):
        """`q, k, v, e_kv = map(…)`, and `q, k, v = map(…)` of nystrom_attention: the inferences' peaks, to the byte."""
        for model, peak in (("graph_transformer", 935936), ("nystromformer", 211968)):
            with self.subTest(model):
                found = totals(f"packages/{model}.pt2", "--mode", "inference")
                self.assertEqual(found["peak_tensor_bytes"], peak)

    def test_products_where_the_code_switches_autocast_off(self):
        """rotary_embedding_torch computes its angles with `torch.einsum` in `autocast(enabled=False)`, and casts back what it has
        turned by them: PyTorch's bytes under autocast (truth/foreign)."""
        found = totals("packages/graph_transformer.pt2", "--autocast", "bf16")
        self.assertEqual((found["saved_bytes"], found["peak_tensor_bytes"]), (334016, 1081856))

    def test_code_of_training_that_python_chose_is_said_in_evaluation(self):
        """e3nn's norm computes statistics of the batch where `self.training` is true, with operators that have no mode. In
        inference the module's peak is 16 896 bytes (truth/foreign), the file's is not."""
        inference = ("profile", f"{FOREIGN}/packages/e3nn.pt2", "--mode", "inference")
        found = read(*inference)
        self.assertTrue(found["memory"]["peak_is_estimate"])
        self.assertIn("in training alone", found["memory"]["peak_estimate_because"])
        self.assertIn("estimate     the peak is that of the file's calls", run(*inference).stdout)
        self.assertGreater(found["totals"]["peak_tensor_bytes"], 1.05 * 16896)
        self.assertIn("the file's code updates norm.running_mean, norm.running_var: where the model does so in training alone",
                      " ".join(found["warnings"]))
        trains = read("profile", f"{FOREIGN}/packages/e3nn.pt2")
        self.assertEqual(trains["warnings"], [])
        self.assertFalse(trains["memory"]["peak_is_estimate"])
