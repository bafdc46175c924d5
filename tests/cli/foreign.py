"""Models that other packages' users export, each the smallest file that shows what once went wrong (tests/zoo/foreign).

    foreign.py PROGRAM [unittest arguments]

Standard library only.
"""
import pathlib
import tempfile
import unittest
import zipfile

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
        self.assertIn("at least     ", page)
        fit = read("fit", path, "--mode", "inference", "--device", "t4")
        self.assertEqual(fit["set_aside_bytes"], memory["peak_doubt_bytes"])
        self.assertIn("set aside as the peak is a lower bound",
                      run("fit", path, "--mode", "inference", "--device", "t4").stdout)

    def test_a_file_that_tells_all_says_so(self):
        memory = read("profile", f"{FOREIGN}/frz_one.pt2", "--mode", "inference")["memory"]
        self.assertEqual((memory["peak_is_lower_bound"], memory["peak_doubt_because"]), (False, None))


class Functions(unittest.TestCase):
    def test_the_cause_is_said_where_an_export_has_dropped_a_backward_pass(self):
        refused = run("profile", f"{FOREIGN}/inlined_function.pt2")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("changed in place later, which autograd refuses", refused.stderr)
        self.assertIn("torch.autograd.Function", refused.stderr)
        self.assertIn("inlined_function.py:21", refused.stderr)
        self.assertIn("--mode inference", refused.stderr)
        self.assertEqual(run("profile", f"{FOREIGN}/inlined_function.pt2", "--mode", "inference").returncode, 0)


if __name__ == "__main__":
    program.main()
