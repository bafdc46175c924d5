"""Information that an export loses of a Python program: lifetimes of variables, autograd functions."""
import unittest

from foreign_files import FOREIGN, totals
from program import read, run


class Lifetimes(unittest.TestCase):
    def test_a_loop_on_one_line_holds_what_it_holds_on_two(self):
        """Three rounds of [2, 16, 32, 32] float32: PyTorch's peak is four such tensors, input included."""
        for name in ("frz_one.pt2", "frz_multi.pt2"):
            with self.subTest(name):
                found = totals(name, "--mode", "inference")["peak_tensor_bytes"]
                self.assertEqual(found, 4 * 2 * 16 * 32 * 32 * 4)

    def test_a_function_that_hides_its_names_makes_the_peak_a_lower_bound(self):
        """scaled() in truth/helpers_models.py has three names; an export has none of them."""
        path = "truth/lifetimes/helpers/names_of_helper.pt2"
        memory = read("profile", path, "--mode", "inference")["memory"]
        self.assertTrue(memory["peak_is_lower_bound"])
        self.assertGreater(memory["peak_doubt_bytes"], 0)
        self.assertIn("functions", memory["peak_doubt_because"])
        page = run("profile", path, "--mode", "inference").stdout
        self.assertIn("peak         at least ", page)
        self.assertIn("lower bound  ", page)
        fit = read("fit", path, "--mode", "inference", "--device", "t4")
        self.assertEqual(fit["set_aside_bytes"], memory["peak_doubt_most_bytes"])
        self.assertIn("set aside as the peak is a lower bound",
                      run("fit", path, "--mode", "inference", "--device", "t4").stdout)

    def test_a_file_that_tells_all_says_so(self):
        memory = read("profile", f"{FOREIGN}/frz_one.pt2", "--mode", "inference")["memory"]
        self.assertEqual((memory["peak_is_lower_bound"], memory["peak_doubt_because"]), (False, None))


class Masks(unittest.TestCase):
    def test_a_mask_that_only_an_export_makes_is_said(self):
        """transformers omits masks that mask nothing, but not during export (masking_utils.py)."""
        said = "transformers leaves a mask out"
        for name, line in (("vivit", "create_bidirectional_mask("), ("phi_cache", "create_causal_mask(")):
            with self.subTest(name):
                warnings = " ".join(read("profile", f"{FOREIGN}/packages/{name}.pt2")["warnings"])
                self.assertIn(said, warnings)
                self.assertIn(line, warnings)
        for name in (f"{FOREIGN}/packages/perceiver.pt2", "models/bert_base.pt2"):
            self.assertNotIn(said, " ".join(read("profile", name)["warnings"]))


class Functions(unittest.TestCase):
    def test_the_cause_is_said_where_an_export_has_dropped_a_backward_pass(self):
        refused = run("profile", f"{FOREIGN}/inlined_function.pt2")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("changed in place later, which autograd refuses", refused.stderr)
        self.assertIn("torch.autograd.Function", refused.stderr)
        self.assertIn("inlined_function.py:22", refused.stderr)
        self.assertIn("--mode inference", refused.stderr)
        self.assertEqual(run("profile", f"{FOREIGN}/inlined_function.pt2", "--mode", "inference").returncode, 0)

    def test_it_is_said_where_autograd_takes_the_forward_pass(self):
        """PlainSum.forward has three calls; the line that applies it is in the file."""
        said = "wrote out the forward pass of a torch.autograd.Function (3 calls, first at tests/zoo/foreign/inlined_function.py:"
        plain = f"{FOREIGN}/inlined_function_plain.pt2"
        self.assertIn(said, " ".join(read("profile", plain)["warnings"]))
        self.assertEqual(read("profile", plain, "--mode", "inference")["warnings"], [])
        self.assertEqual(read("profile", f"{FOREIGN}/nanogpt.pt2")["warnings"], [])
        self.assertIn("lacks the backward pass", read("profile", plain)["memory"]["peak_estimate_because"])
        page = run("profile", plain).stdout
        self.assertIn("peak         about ", page)
        self.assertIn("saved        about ", page)
