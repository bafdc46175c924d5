"""Properties of traces."""
import json
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
        """torch.jit.trace drops `with torch.no_grad():` from its file; an inference needs nothing else."""
        said = "does not show where the code says `with torch.no_grad():`"
        self.assertIn(said, run("profile", f"{FOREIGN}/cast_clip.pt").stdout)
        self.assertNotIn(said, run("profile", f"{FOREIGN}/cast_clip.pt", "--mode", "inference").stdout)
        self.assertNotIn(said, run("profile", f"{FOREIGN}/loops.pt", "--input", "x=float32[3,8]", "--input",
                                   "lengths=int64[3]{5,3,2}").stdout)

    def test_a_list_of_numbers_is_an_index_on_the_device(self):
        """sin() of [4, 3] saves what it is given, and `x[:, [0, 2, 5]]` its index, of three int64 (host_index.py); so does
        `y[:, [0, 2, 5]] = z`, where sin() is given [4, 8]."""
        self.assertEqual(totals("list_index.pt")["saved_bytes"], 4 * 3 * 4 + 3 * 8)
        self.assertEqual(totals("list_write.pt")["saved_bytes"], 4 * 8 * 4 + 3 * 8)

    def test_tensors_of_the_host_are_an_index_of_the_host(self):
        """What Python has matched there stays there, for autograd as well: sin() of 4 numbers is all that is saved
        (host_index.py), as PyTorch has it."""
        self.assertEqual(totals("matched_index.pt")["saved_bytes"], 4 * 4)

    def test_complex_numbers_are_given_to_operators(self):
        """complex_numbers.py: Linear(8, 8) of [4, 8], and its spectrum [4, 5]; saved are what rfft() is given, the mask, and what
        exp() gives, whose conjugate is copied for a product in backward: the peak is PyTorch's."""
        for name, options in (("complex_numbers.pt", ()), ("complex_numbers_scripted.pt", ("--input", "x=float32[4,8]"))):
            with self.subTest(name):
                found = totals(name, *options)
                self.assertEqual(found["fwd_flops"], 2 * 4 * 8 * 8)
                self.assertEqual(found["saved_bytes"], 4 * 8 * 4 + 4 * 5 + 4 * 5 * 8)
                self.assertEqual(found["peak_tensor_bytes"], 5632)

    def test_a_sequence_between_two_sizes_is_on_the_device(self):
        """complex_numbers.py: linear(x) * linspace(0, 7, 8).exp() of [4, 8] saves what exp() gives."""
        self.assertEqual(totals("sequence.pt")["saved_bytes"], 8 * 4)

    def test_the_lines_of_its_python_show_what_a_trace_does_not(self):
        """truth/cast/functions.py is what functions_*.pt were traced from: dtypes of casts in functions, under autocast and
        in bf16, are PyTorch's."""
        truth = json.loads((ROOT / "truth/cast/functions.json").read_text())
        options = {"fp32": [], "bf16": ["--dtype", "bf16"], "autocast": ["--autocast", "bf16"]}
        for model in ("norm", "shared", "encoded", "rotary", "decorated"):
            for kind in sorted(options.keys() & truth[model].keys()):
                with self.subTest(model, kind=kind):
                    found = read("profile", f"{FOREIGN}/functions_{model}.pt", "--python-sources", ".", *options[kind])
                    wanted = truth[model][kind]
                    self.assertEqual({figure: found["totals"][figure] for figure in wanted}, wanted)
                    self.assertFalse(found["memory"]["peak_is_lower_bound"])
                    self.assertNotIn("does not show", " ".join(found["warnings"]))

    def test_python_of_another_version_is_left_out(self):
        """With three lines more at its top no line is where the trace has it."""
        path = f"{FOREIGN}/functions_rotary.pt"
        with tempfile.TemporaryDirectory() as folder:
            moved = pathlib.Path(folder) / "truth/cast/functions.py"
            moved.parent.mkdir(parents=True)
            moved.write_text("\n" * 3 + (ROOT / "truth/cast/functions.py").read_text())
            refused = run("profile", path, "--python-sources", folder)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("is there as it was when the trace was made", refused.stderr)

    def test_python_is_asked_for_where_it_tells_something(self):
        for model, said in (("models/vit_b_16.onnx", "it is for traces"), ("models/tiny/mlp.pt2", "none of the classes"),
                            (f"{FOREIGN}/cast_conv.pt", "does not say which lines"),
                            (f"{FOREIGN}/functions_rotary.pt", "is there as it was")):
            with self.subTest(model), tempfile.TemporaryDirectory() as folder:
                refused = run("profile", model, "--python-sources", folder)
                self.assertEqual(refused.returncode, 2)
                self.assertIn(said, refused.stderr)

    def test_tensors_that_a_constructor_makes_are_said(self):
        """Of an export, too: TabM with two tensors that nothing registers, of 3072 and of 4 bytes, in blocks of 512."""
        path = f"{FOREIGN}/packages/tabm.pt2"
        self.assertFalse(read("profile", path, "--mode", "inference")["memory"]["peak_is_lower_bound"])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "tabm.py").write_text(
                "class Base:\n  def __init__(self):\n    self.table = torch.zeros((3, 256))\n"
                "class TabM(Base):\n  def __init__(self):\n    super().__init__()\n    self.loss = torch.zeros(1)\n")
            memory = read("profile", path, "--mode", "inference", "--python-sources", folder)["memory"]
        self.assertTrue(memory["peak_is_lower_bound"])
        self.assertEqual(memory["peak_doubt_bytes"], 3072 + 512)
        self.assertIn("constructors", memory["peak_doubt_because"])

    def test_a_deflated_archive_is_read(self):
        source = "models/resnet50.pt"
        with tempfile.TemporaryDirectory() as folder:
            packed = pathlib.Path(folder) / "resnet50.pt"
            with zipfile.ZipFile(ROOT / source) as plain, \
                    zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as deflated:
                for record in plain.namelist():
                    deflated.writestr(record, plain.read(record))
            self.assertEqual(read("profile", str(packed))["totals"], read("profile", source)["totals"])
        found = totals("deflated_resnet50.pt")
        self.assertEqual((found["param_count"], found["fwd_flops"]), (25557032, 8 * 8178368512))
