"""Models that other packages' users export, each the smallest file that shows what once went wrong (tests/zoo/foreign).

    foreign.py PROGRAM [unittest arguments]

Standard library only.
"""
import json
import os
import pathlib
import struct
import tempfile
import unittest
import zipfile
from fractions import Fraction

import onnx_bytes as onnx
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


class Casts(unittest.TestCase):
    """Models that cast in their code (truth/cast/models.py), exported in fp32, beside what PyTorch says of them built
    in another dtype."""
    TRUTH = json.loads((ROOT / "truth/cast/cast.json").read_text())
    PACKAGES = json.loads((ROOT / "truth/cast/packages.json").read_text())
    OPTIONS = {"fp32": [], "bf16": ["--dtype", "bf16"], "fp16": ["--dtype", "fp16"],
               "autocast": ["--autocast", "bf16"]}

    def compare(self, name, kinds):
        model = name.removeprefix("cast_").partition(".")[0]
        truth = {**self.TRUTH, **self.PACKAGES}[model]
        for kind in kinds:
            with self.subTest(name, kind=kind):
                found = totals(name, "--mode", "train", *self.OPTIONS[kind])
                wanted = truth[kind]
                self.assertEqual({figure: found[figure] for figure in wanted}, wanted)

    def test_exports_are_as_if_built_in_the_dtype(self):
        """Norms and softmax in float32, tables that are cast, casts back: all stand on lines of Python."""
        for model in self.TRUTH:
            self.compare(f"cast_{model}.pt2", self.OPTIONS)

    def test_models_of_packages_are_as_if_built_in_the_dtype(self):
        """A quantiser and a decoder that compute in float32 inside of autocast(enabled=False) and cast back."""
        for model in self.PACKAGES:
            self.compare(f"{model}.pt2", self.PACKAGES[model])

    def test_no_warning_where_the_lines_tell(self):
        for model in self.TRUTH:
            found = run("profile", f"{FOREIGN}/cast_{model}.pt2", "--dtype", "bf16")
            self.assertNotIn("file does not show", found.stdout + found.stderr)

    def test_casts_of_a_trace_that_did_nothing_follow(self):
        for model in ("clip", "conv", "times"):
            self.compare(f"cast_{model}.pt", self.OPTIONS)
        self.assertIn("the file does not show whether 4 casts or new tensors",
                      run("profile", f"{FOREIGN}/cast_clip.pt", "--dtype", "bf16").stdout)

    def test_a_product_of_two_dtypes_names_the_cast_and_the_way_out(self):
        """A trace does not tell `mask.to(x.dtype)` from `mask.float()`, so the mask stays in float32."""
        refused = run("profile", f"{FOREIGN}/cast_masked.pt", "--dtype", "bf16")
        self.assertEqual(refused.returncode, 2)
        for part in ("aten::bmm is given float32 and bfloat16", "float32 comes from node to (aten::to.dtype)",
                     "export the model in bfloat16, or give --autocast bf16"):
            self.assertIn(part, refused.stderr)
        self.assertNotIn("shapes", refused.stderr)

    def test_a_cast_to_the_type_of_an_onnx_file_follows(self):
        """Mul of ONNX takes operands of one type, so Cast(bool to FLOAT) makes what the model has."""
        to_float = onnx.field(1, "to") + onnx.number(3, onnx.FLOAT) + onnx.number(20, 2)
        nodes = [onnx.node("Greater", ["x", "y"], ["m"], "greater"),
                 onnx.node("Cast", ["m"], ["c"], "cast", attributes=[to_float]),
                 onnx.node("Mul", ["x", "c"], ["z"], "mul")]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mask.onnx"
            path.write_bytes(onnx.model(nodes, {"x": [4, 8], "y": [4, 8]}, {"z": [4, 8]}))
            for dtype, name in (("bf16", "bfloat16"), ("fp16", "float16")):
                found = read("profile", str(path), "--mode", "inference", "--dtype", dtype)
                made = [output["dtype"] for node in found["nodes"] for output in node["outputs"] if output]
                self.assertEqual(set(made), {"bool", name})


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


LENGTHS = "lengths=int64[3]{5,3,2}"
KEPT = 5 + 3 + 2
PYTORCH = json.loads((ROOT / FOREIGN / "values.json").read_text())


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


class Names(unittest.TestCase):
    def test_every_dimension_can_be_named(self):
        sizes = ["--set", "rows=3", "--set", "words=40"]
        named = totals("nanogpt.pt2", "--input", "idx=[rows,words]", *sizes)
        self.assertEqual(named, totals("nanogpt.pt2", "--set", "idx.0=3", "--set", "idx.1=40"))
        fixed = totals("frames.pt2", "--input", "x=[rows,6,8]", "--set", "rows=3", "--input", LENGTHS)
        self.assertEqual(fixed, totals("frames.pt2", "--input", LENGTHS))
        script = totals("loops.pt", "--input", "x=float32[rows,8]", "--set", "rows=3", "--input", LENGTHS)
        self.assertEqual(script["fwd_flops"], PYTORCH["loops"]["fwd_flops"])

    def test_an_unknown_name_lists_what_there_is(self):
        refused = run("profile", f"{FOREIGN}/nanogpt.pt2", "--set", "tokens=3")
        self.assertEqual(refused.returncode, 2)
        for part in ("Known: ", "idx.0, idx.1", "or name them with --input idx=[batch,seq]."):
            self.assertIn(part, refused.stderr)


class FoldedByExporters(unittest.TestCase):
    """What an ONNX exporter folded, dropped or merged is as PyTorch has it (tests/zoo/foreign/make_onnx.py)."""

    KEYS = ("param_count", "grad_bytes", "saved_bytes", "fwd_flops", "bwd_flops")

    def check_equal(self, onnx, exported, *options):
        found, wanted = totals(onnx, *options), totals(exported, *options)
        self.assertEqual({key: found[key] for key in self.KEYS}, {key: wanted[key] for key in self.KEYS})

    def warnings(self, name, *options):
        return " ".join(read("profile", f"{FOREIGN}/{name}", *options)["warnings"])

    def test_a_folded_batch_norm_is_back_in_training(self):
        """Conv 3 → 8, BatchNorm, ReLU, Dropout, Conv 8 → 8. What the norm takes, the ReLU's and the dropout's result and
        the dropout's mask, of [2, 8, 16, 16], and the norm's mean and deviation are saved."""
        one = 2 * 8 * 16 * 16
        found = totals("bn.onnx")
        self.assertEqual(found["param_count"], 8 * 3 * 9 + 8 + 2 * 8 + 8 * 8 * 9 + 8)
        self.assertEqual(found["saved_bytes"], 3 * one * 4 + one + 2 * 8 * 4)
        self.check_equal("bn.onnx", "bn.pt2")
        self.assertEqual(self.warnings("bn.onnx"), "")

    def test_it_stays_folded_in_evaluation(self):
        folded = 8 * 3 * 9 + 8 + 8 * 8 * 9 + 8
        self.assertEqual(totals("bn.onnx", "--mode", "eval")["param_count"], folded)
        self.assertEqual(totals("bn.onnx", "--mode", "inference")["param_count"], folded)

    def test_a_file_exported_in_evaluation_mode_lacks_dropout_alone(self):
        """The norm is back: without the dropout's result and mask, the rest is what the file in training mode has."""
        self.assertEqual(totals("bn_eval.onnx")["saved_bytes"], 2 * 2 * 8 * 16 * 16 * 4 + 2 * 8 * 4)
        said = self.warnings("bn_eval.onnx")
        self.assertIn("exported in evaluation mode, without dropout", said)
        self.assertNotIn("batch norm", said)

    def test_norms_that_the_file_does_not_tell_enough_of_are_named(self):
        said = self.warnings("two_norms.onnx")
        self.assertIn("folded batch norm into the weights before it", said)
        self.assertIn("is in no figure: 2. Export with torch.onnx.export(..., optimize=False)", said)
        self.assertNotIn("evaluation mode", said)

    def test_layers_of_a_file_are_those_of_the_model(self):
        for options in ((), ("--autocast", "bf16")):
            with self.subTest(options):
                self.check_equal("layers.onnx", "layers.pt2", *options)

    def test_dropout_inside_of_attention_is_back(self):
        """Math attention saves its mask. Query and key, [2, 2, 16, 8], were copied apart: once scaled, they are not kept,
        as docs/accuracy.md has it of ViT."""
        packed = 2 * (2 * 2 * 16 * 8) * 4
        found, wanted = (totals(name, "--attention", "math")["saved_bytes"] for name in ("layers.onnx", "layers.pt2"))
        self.assertEqual(found, wanted - packed)

    def test_merged_parameters_are_counted_apart_and_said(self):
        """Two norms of 16 channels are new, so their weights and biases are equal."""
        self.assertIn("merged 2 parameters (32 numbers) with equal ones: after.weight, after.bias",
                      self.warnings("layers.onnx"))
        without_merging = totals("layers.onnx")["param_count"]
        self.assertEqual(without_merging, totals("layers.pt2")["param_count"])

    def test_autocast_casts_the_bias_of_a_linear_layer(self):
        """In bf16: both inputs (ReLU's result is the second) and the cast weight that the first layer's gradient needs."""
        inputs, hidden, weight = 2 * 5 * 8, 2 * 5 * 12, 8 * 12
        for name in ("linear_torchscript.onnx", "linear_torchscript_folded.onnx"):
            with self.subTest(name):
                found = totals(name, "--autocast", "bf16")
                self.assertEqual(found["saved_bytes"], (inputs + hidden + weight) * 2)
                self.assertEqual(found["fwd_flops"], 2 * 2 * (2 * 5) * 8 * 12)

    def test_a_language_model_under_autocast(self):
        sizes = ("--set", "batch=4", "--set", "seq=64")
        for options in (sizes, (*sizes, "--autocast", "bf16")):
            with self.subTest(options):
                self.check_equal("nanogpt.onnx", "nanogpt.pt2", *options)

    def test_weights_of_experts_are_trained(self):
        """A router [4, 6] and 4 experts of [10, 6] and [6, 10], with the exporter's metadata and without."""
        for name in ("experts.onnx", "experts_bare.onnx"):
            with self.subTest(name):
                found = totals(name)
                self.assertEqual(found["param_count"], 4 * 6 + 2 * 4 * 10 * 6)
                self.assertEqual(found["grad_bytes"], found["param_count"] * 4)
                self.assertEqual(found["buffer_bytes"], 0)


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
