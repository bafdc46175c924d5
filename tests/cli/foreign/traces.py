"""What traces alone have."""
import pathlib
import tempfile
import unittest
import zipfile

from foreign_files import FOREIGN, totals
from program import ROOT, read, run


class Traces(unittest.TestCase):
    def test_a_number_of_python_promotes_as_a_number(self):
        """exp(arange(8) * -0.5) is float32, as torch.jit.load(...)(x) gives it: Linear(8, 4) of [3, 8]."""
        found = totals("sincos.pt")
        self.assertEqual(found["fwd_flops"], 2 * 3 * 8 * 4)
        self.assertEqual(found["saved_bytes"], 3 * 8 * 4)

    def test_shape_as_tensor_reads_sizes_alone(self):
        """Linear(8, 8) of [4, 8], divided by a size."""
        self.assertEqual(totals("shape_as_tensor.pt")["fwd_flops"], 2 * 4 * 8 * 8)

    def test_a_list_of_numbers_that_the_code_makes(self):
        """Linear(16, 16) of parts with 1, 2 and 3 rows for each of two samples: torch.arange(1, 4).tolist()."""
        self.assertEqual(totals("functions_listed.pt")["fwd_flops"], 2 * 2 * (1 + 2 + 3) * 16 * 16)

    def test_what_a_trace_has_lost_is_said(self):
        """torch.jit.trace leaves `with torch.no_grad():` out of its file; nothing else is asked of an inference."""
        said = "does not show where the code says `with torch.no_grad():`"
        self.assertIn(said, run("profile", f"{FOREIGN}/cast_clip.pt").stdout)
        self.assertNotIn(said, run("profile", f"{FOREIGN}/cast_clip.pt", "--mode", "inference").stdout)
        self.assertNotIn(said, run("profile", f"{FOREIGN}/loops.pt", "--input", "x=float32[3,8]", "--input",
                                   "lengths=int64[3]{5,3,2}").stdout)

    def test_a_deflated_archive_is_read(self):
        source = "models/resnet50.pt"
        with tempfile.TemporaryDirectory() as folder:
            packed = pathlib.Path(folder) / "resnet50.pt"
            with zipfile.ZipFile(ROOT / source) as plain, \
                    zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as deflated:
                for record in plain.namelist():
                    deflated.writestr(record, plain.read(record))
            self.assertEqual(read("profile", str(packed))["totals"], read("profile", source)["totals"])
