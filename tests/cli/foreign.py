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


if __name__ == "__main__":
    program.main()
