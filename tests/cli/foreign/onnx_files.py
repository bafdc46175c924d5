"""Peculiarities of exporters to ONNX."""
import pathlib
import struct
import tempfile
import unittest

import onnx_bytes as onnx
from foreign_files import FOREIGN, totals
from program import read


class Onnx(unittest.TestCase):
    def test_a_bias_of_zeros_that_the_exporter_made_is_none(self):
        """Zeros created from the weight's shape are on the host, where autocast does not apply: convolutions had two dtypes."""
        figures = ("fwd_flops", "bwd_flops", "saved_bytes")
        for options in ([], ["--autocast", "bf16"]):
            of_onnx, of_export = (read("profile", f"models/resnet50.{kind}", "--set", "batch=2", *options)["totals"]
                                  for kind in ("onnx", "pt2"))
            self.assertEqual([of_onnx[figure] for figure in figures], [of_export[figure] for figure in figures])

    def test_products_of_tables_that_the_exporter_computed(self):
        """A table lies on the host, which autocast passes over: the products were given two dtypes, and refused. PyTorch's
        einsum and convolution cast both operands (torch.matmul and conv2d under autocast); 8 channels, 4 rows of weights."""
        floats = b"".join(struct.pack("<Bf", 7 << 3 | 5, 0.5 + i) for i in range(8))
        values = onnx.field(1, "value_floats") + floats + onnx.number(20, 6)
        sizes = onnx.field(1, "value_ints") + b"".join(onnx.number(8, i) for i in (1, 8, 1, 1)) + onnx.number(20, 7)
        equation = onnx.field(1, "equation") + onnx.field(4, "h,nh->n") + onnx.number(20, 3)
        nodes = [onnx.node("Constant", [], ["t"], "table", attributes=[values]), onnx.node("Sin", ["t"], ["s"], "sin"),
                 onnx.node("Constant", [], ["z"], "sizes", attributes=[sizes]),
                 onnx.node("Reshape", ["s", "z"], ["image"], "reshape"),
                 onnx.node("Einsum", ["s", "w"], ["y"], "einsum", attributes=[equation]),
                 onnx.node("Conv", ["image", "v"], ["c"], "conv")]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tables.onnx"
            path.write_bytes(onnx.model(nodes, {"w": [4, 8], "v": [4, 8, 1, 1]}, {"y": [4], "c": [1, 4, 1, 1]}))
            for options in ((), ("--autocast", "bf16")):
                found = read("profile", str(path), "--mode", "inference", *options)
                self.assertEqual(found["totals"]["fwd_flops"], 2 * 4 * 8 + 2 * 4 * 8)

    def test_pads_of_the_last_axis_alone(self):
        """Reflected and repeated edges: two columns on either side of [N, C, H, W]."""
        for name in ("pad_reflect_w.onnx", "pad_edge_w.onnx"):
            with self.subTest(name):
                nodes = read("profile", f"{FOREIGN}/{name}")["nodes"]
                before, after = (next(node for node in nodes if node["op"] == op)["outputs"][0]
                                 for op in ("input", "onnx::Pad"))
                self.assertEqual(after["shape"][:-1], before["shape"][:-1])
                self.assertGreater(after["shape"][-1], before["shape"][-1])


    def test_operators_that_may_stand_for_other_calls_are_said_in_training(self):
        """ResNet's are one call of PyTorch each; a transformer's LayerNormalization and Softmax may be parts of others."""
        certain, estimate = (read("profile", f"models/{name}.onnx", "--set", "batch=2")["memory"]
                             for name in ("resnet50", "vit_b_16"))
        self.assertEqual((certain["peak_is_estimate"], certain["peak_estimate_because"]), (False, None))
        self.assertTrue(estimate["peak_is_estimate"])
        self.assertIn("LayerNormalization", estimate["peak_estimate_because"])


class FoldedByExporters(unittest.TestCase):
    """Nodes that an ONNX exporter folded, dropped or merged have PyTorch's costs (tests/zoo/foreign/make_onnx.py)."""

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

    def test_what_the_exporter_did_not_fold(self):
        """The same model, exported with optimize=False."""
        self.check_equal("bn_noopt.onnx", "bn.pt2")

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
        as docs/evaluation/accuracy.md has it of ViT."""
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

    def test_weights_of_an_exported_mixtral_are_trained(self):
        """Four layers of 8 experts of [512, 256] and [256, 256], which the exporter stores without a name of the model."""
        found = totals("mixtral_tiny.onnx")
        self.assertEqual(found["param_count"], 11053312)
        self.assertEqual(found["grad_bytes"], found["param_bytes"])
        self.assertGreater(found["bwd_flops"], 1.99 * found["fwd_flops"])

    def test_weights_of_experts_are_trained(self):
        """A router [4, 6] and 4 experts of [10, 6] and [6, 10], with the exporter's metadata and without."""
        for name in ("experts.onnx", "experts_bare.onnx"):
            with self.subTest(name):
                found = totals(name)
                self.assertEqual(found["param_count"], 4 * 6 + 2 * 4 * 10 * 6)
                self.assertEqual(found["grad_bytes"], found["param_count"] * 4)
                self.assertEqual(found["buffer_bytes"], 0)
