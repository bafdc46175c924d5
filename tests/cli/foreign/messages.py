"""Messages to the user."""
import os
import tempfile
import unittest

import program
from foreign_files import FOREIGN
from program import ROOT, read, run


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

    def test_a_beginning_of_four_devices_names_all(self):
        self.assertIn("Did you mean 'a100-40g', 'a100-40g-pcie', 'a100-80g' or 'a100-80g-pcie'?",
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
        """`_assert_tensor_metadata` returns nothing."""
        nodes = read("profile", f"{FOREIGN}/packages/conformer.pt2")["nodes"]
        asserted = [node for node in nodes if node["op"] == "aten::_assert_tensor_metadata"]
        self.assertIn("float32", [node["inputs"][0]["dtype"] for node in asserted])
        self.assertEqual({node["backward_bytes"] for node in asserted}, {0})
