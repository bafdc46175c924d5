"""Models that other packages' users export, each the smallest file that shows what once went wrong (tests/zoo/foreign).

    foreign.py PROGRAM [unittest arguments]

Standard library only.
"""
import json
import os
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


class Messages(unittest.TestCase):
    def refused(self, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, 2)
        return result.stderr

    def test_standard_input_is_not_a_model(self):
        self.assertIn("-: standard input is not read.", self.refused("profile", "-"))

    def test_a_truncated_trace_is_to_be_saved_by_what_saves_traces(self):
        whole = (ROOT / "models/resnet50.pt").read_bytes()
        for suffix, saver in ((".pt", "torch.jit.save"), (".pt2", "torch.export.save")):
            with self.subTest(suffix), tempfile.NamedTemporaryFile(suffix=suffix) as part:
                part.write(whole[:len(whole) // 2])
                part.flush()
                self.assertIn(f"write it again with {saver}.", self.refused("profile", part.name))

    def test_a_beginning_of_two_devices_names_both(self):
        self.assertIn("Did you mean 'a100-40g' or 'a100-80g'?",
                      self.refused("profile", program.TINY, "--device", "a100"))

    def test_a_count_that_does_not_fit_names_the_shapes(self):
        told = self.refused("profile", f"{FOREIGN}/nanogpt.pt2", "--set", "batch=1000000000000")
        self.assertIn("idx [1000000000000, ", told)
        self.assertIn("a count does not fit into 64 bits.", told)
        self.assertIn("\n  Profile with smaller sizes.", told)

    def test_the_sizes_of_the_step_and_who_chose_them(self):
        def sizes(*arguments):
            lines = run("profile", f"{FOREIGN}/nanogpt.pt2", *arguments).stdout.splitlines()
            return next(line.split(None, 1)[1] for line in lines if line.startswith("sizes "))

        self.assertEqual(sizes(), "batch=4, seq=64 from the file")
        self.assertEqual(sizes("--set", "batch=3"), "batch=3 as given, seq=64 from the file")
        self.assertEqual(sizes("--set", "batch=3", "--set", "idx.1=32"), "batch=3, seq=32 as given")

    def test_a_locale_without_unicode_gets_ascii(self):
        def table(**locale):
            return run("profile", program.TINY, env={**os.environ, **locale}).stdout

        self.assertIn("─", table(LC_ALL="C.UTF-8"))
        plain = table(LC_ALL="C")
        self.assertTrue(plain.isascii())
        self.assertEqual(plain, table(LC_ALL="C.UTF-8").replace("─", "-"))

    def test_a_cache_beyond_the_table_of_positions(self):
        """GPT-2 has 1024 positions."""
        def warnings(tokens):
            return read("profile", "models/gpt2.pt", "--input", "input_ids=int64[1,1]",
                        "--kv-cache", str(tokens))["warnings"]

        self.assertFalse(any("rows" in warning for warning in warnings(1023)))
        self.assertTrue(any("has 1024 rows" in warning and "need 1025" in warning
                            for warning in warnings(1024)))

    def test_an_assertion_has_no_gradients(self):
        """`_assert_tensor_metadata` gives nothing back."""
        nodes = read("profile", f"{FOREIGN}/packages/conformer.pt2")["nodes"]
        asserted = [node for node in nodes if node["op"] == "aten::_assert_tensor_metadata"]
        self.assertIn("float32", [node["inputs"][0]["dtype"] for node in asserted])
        self.assertEqual({node["backward_bytes"] for node in asserted}, {0})


class Packages(unittest.TestCase):
    OPTIONS = {"fp32": (), "bf16": ("--dtype", "bf16"), "autocast": ("--autocast", "bf16")}

    def test_flops_and_saved_bytes_are_pytorchs(self):
        """truth/foreign/ has the script that made files and figures."""
        expected = sorted((ROOT / FOREIGN / "packages").glob("*.json"))
        self.assertTrue(expected)
        for path in expected:
            for setting, figures in json.loads(path.read_text()).items():
                with self.subTest(f"{path.stem} {setting}"):
                    found = totals(f"packages/{path.stem}.pt2", *self.OPTIONS[setting])
                    self.assertEqual({key: found[key] for key in figures}, figures)


if __name__ == "__main__":
    program.main()
