"""Sizes that follow from the values of inputs."""
import pathlib
import struct
import tempfile
import unittest

from foreign_files import FOREIGN, KEPT, LENGTHS, PYTORCH, totals
from program import read, run


class Values(unittest.TestCase):
    """Sizes that follow from the values of an input; truth/values/make.py made the models and PyTorch's figures."""

    def check(self, name, *arguments, figures=("fwd_flops", "bwd_flops", "saved_bytes")):
        found = totals(name, *arguments)
        model = name.split(".")[0].removesuffix("_traced")
        self.assertEqual({f: found[f] for f in figures}, {f: PYTORCH[model][f] for f in figures})
        return found

    def test_a_number_a_mask_and_the_rows_that_it_keeps(self):
        """Linear(8, 16) of the longest, Linear(16, 4) of the rows that are kept."""
        flops = 2 * 3 * 5 * 8 * 16 + 2 * KEPT * 16 * 4
        for arguments in (["frames.pt2"], ["frames.pt", "--input", "x=float32[3,6,8]"]):
            with self.subTest(arguments[0]):
                self.assertEqual(self.check(*arguments, "--input", LENGTHS)["fwd_flops"], flops)

    def test_operators_whose_output_is_as_long_as_data_says(self):
        for arguments in (["counts.pt2"], ["counts.pt", "--input", "x=float32[3,8]"]):
            with self.subTest(arguments[0]):
                found = self.check(*arguments, "--input", LENGTHS)
                self.assertEqual(found["fwd_flops"], 2 * KEPT * 8 * 4)

    def test_loops_branches_and_lists_of_a_script(self):
        """Five steps, and one more as the lengths sum to more than nine."""
        found = self.check("loops.pt", "--input", "x=float32[3,8]", "--input", LENGTHS)
        self.assertEqual(found["fwd_flops"], (5 + 1) * 2 * 3 * 8 * 8)

    def test_packed_sequences(self):
        """LSTM(8, 4) of the rows that are there, in cuDNN's one call; Linear(4, 2) of all."""
        found = self.check("packed.pt", "--input", "x=float32[3,6,8]", "--input", LENGTHS, figures=["fwd_flops"])
        self.assertEqual(found["fwd_flops"], 2 * KEPT * 4 * 4 * (8 + 4) + 2 * 3 * 5 * 4 * 2)

    def test_ctc_loss_reads_lengths(self):
        lengths = ["--input", "input_lengths=int64[3]{5,3,2}", "--input", "target_lengths=int64[3]{4,2,1}"]
        self.check("recognizer_traced.pt", *lengths)
        self.check("recognizer.pt", "--input", "x=float32[3,6,8]", "--input", "targets=int64[3,4]", *lengths)

    def test_ctc_loss_with_the_longest_sequences_that_there_can_be(self):
        """Its table of states has 2 S + 1 for the longest target; the column S of the targets bounds it."""
        step = read("profile", f"{FOREIGN}/recognizer_traced.pt", "--unbacked", "max")
        self.assertEqual([node["op"] for node in step["nodes"] if node.get("upper_bound")], ["aten::ctc_loss"])
        self.assertEqual(step["totals"]["saved_bytes"], PYTORCH["recognizer"]["saved_bytes"])
        shorter = totals("recognizer_traced.pt", "--input", "input_lengths=[3]{5,3,2}",
                         "--input", "target_lengths=[3]{2,2,1}")
        self.assertEqual(step["totals"]["saved_bytes"] - shorter["saved_bytes"], 3 * 6 * 2 * (4 - 2) * 4)

    def test_a_file_of_numpy(self):
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }".ljust(64 - 11) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<3q", 5, 3, 2)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lengths.npy"
            path.write_bytes(data)
            self.check("frames.pt2", "--input", f"lengths=[3]{{@{path}}}")
            path.write_bytes(data[:-1])
            refused = run("profile", f"{FOREIGN}/frames.pt2", "--input", f"lengths=[3]{{@{path}}}")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("has 23 bytes of data; int64[3] takes 24.", refused.stderr)
            other = run("profile", f"{FOREIGN}/frames.pt2", "--input", f"lengths=int32[3]{{@{path}}}")
            self.assertEqual(other.returncode, 2)

    def test_values_stand_in_the_answer(self):
        step = read("profile", f"{FOREIGN}/frames.pt2", "--input", LENGTHS)
        self.assertEqual(step["options"]["inputs"], [LENGTHS])
        self.assertFalse(any(node.get("upper_bound") for node in step["nodes"]))

    def test_values_change_no_bytes_of_inputs(self):
        by_number = totals("frames.pt2", "--set", "u0=5", "--set", f"u1={KEPT}")
        self.assertEqual(totals("frames.pt2", "--input", LENGTHS), by_number)

    def test_values_that_do_not_fit_the_size_that_is_given(self):
        refused = run("profile", f"{FOREIGN}/frames.pt2", "--input", LENGTHS, "--set", "u0=4")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the values that --input gives make it 5, and 4 is given", refused.stderr)


class Spectra(unittest.TestCase):
    def test_istft_runs_in_every_mode(self):
        for mode in ("train", "eval", "inference"):
            with self.subTest(mode):
                self.assertEqual(read("profile", f"{FOREIGN}/istft.pt2", "--mode", mode)["coverage"]["unmodelled"], 0)
        self.assertEqual(run("profile", f"{FOREIGN}/istft.pt2", "--unbacked", "max").returncode, 0)

    def test_istft_as_pytorch_counts_it(self):
        """Linear(33, 33) of 2 signals with 256 / 16 + 1 frames."""
        for name, given in (("vocoder.pt2", []), ("vocoder_traced.pt", []),
                            ("vocoder.pt", ["--input", "x=float32[2,256]"])):
            with self.subTest(name):
                found = totals(name, *given)
                figures = {figure: found[figure] for figure in PYTORCH["vocoder"]}
                self.assertEqual(figures, PYTORCH["vocoder"])
                self.assertEqual(found["fwd_flops"], 2 * 2 * 17 * 33 * 33)

    def test_istft_as_a_formula(self):
        given = "x=[batch,256]"
        found = read("profile", f"{FOREIGN}/vocoder_traced.pt", "--input", given, "--symbolic", "batch")
        self.assertEqual(found["options"]["inputs"], [given])
        self.assertEqual(found["totals"]["fwd_flops"]["text"], f"{2 * 17 * 33 * 33:,}·batch")
