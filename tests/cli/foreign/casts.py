"""`--dtype` and `--autocast` on models that cast."""
import json
import pathlib
import tempfile
import unittest

import onnx_bytes as onnx
from foreign_files import FOREIGN, totals
from program import ROOT, read, run


class Casts(unittest.TestCase):
    """Models that cast in their code (truth/cast/models.py), exported in fp32, compared with PyTorch's models built in
    another dtype."""
    TRUTH = json.loads((ROOT / "truth/cast/cast.json").read_text())
    PACKAGES = json.loads((ROOT / "truth/cast/packages.json").read_text())
    FUNCTIONS = json.loads((ROOT / "truth/cast/functions.json").read_text())
    OPTIONS = {"fp32": [], "bf16": ["--dtype", "bf16"], "fp16": ["--dtype", "fp16"],
               "autocast": ["--autocast", "bf16"]}

    def compare(self, name, kinds):
        model = name.partition(".")[0].removeprefix("cast_").removeprefix("functions_")
        truth = {**self.TRUTH, **self.PACKAGES, **self.FUNCTIONS}[model]
        for kind in kinds:
            with self.subTest(name, kind=kind):
                found = totals(name, "--mode", "train", *self.OPTIONS[kind])
                wanted = truth[kind]
                self.assertEqual({figure: found[figure] for figure in wanted}, wanted)

    def test_exports_are_as_if_built_in_the_dtype(self):
        """Norms and softmax in float32, tables that are cast, casts back: all are found from lines of Python."""
        for model in self.TRUTH:
            self.compare(f"cast_{model}.pt2", self.OPTIONS)

    def test_models_of_packages_are_as_if_built_in_the_dtype(self):
        """A quantizer and a decoder that compute in float32 inside of autocast(enabled=False) and cast back."""
        for model in self.PACKAGES:
            self.compare(f"{model}.pt2", self.PACKAGES[model])

    def test_a_trace_of_a_package_as_if_built_in_the_dtype(self):
        """Up to 16 bytes: values that the quantizer computes from numbers alone are constants in a trace."""
        for kind, wanted in self.PACKAGES["vq_vae"].items():
            with self.subTest(kind):
                found = totals("vq_vae.pt", *self.OPTIONS[kind])
                self.assertEqual({figure: found[figure] for figure in ("fwd_flops", "bwd_flops")},
                                 {figure: wanted[figure] for figure in ("fwd_flops", "bwd_flops")})
                self.assertEqual(wanted["saved_bytes"] - found["saved_bytes"], 16)

    def test_softmax_in_float32_and_a_cast_back(self):
        """`(q(x) @ x.mT).softmax(-1, dtype=torch.float32).type(x.dtype) @ v(x)` of [2, 32, 64]. Saved are what softmax gives,
        the cast of that, and v(x). Under autocast x stays float32, and so the cast does nothing; x is cast for each of the
        three products, and what softmax gives for the last."""
        rows, scores, x = 2 * 32, 2 * 32 * 32, 2 * 32 * 64
        wanted = {"fp32": scores * 4 + x * 4, "bf16": scores * 4 + scores * 2 + x * 2,
                  "autocast": 3 * x * 2 + scores * 4 + scores * 2 + x * 2}
        for kind, saved in wanted.items():
            with self.subTest(kind):
                found = totals("mixed.pt2", *self.OPTIONS[kind])
                self.assertEqual(found["saved_bytes"], saved)
                self.assertEqual(found["fwd_flops"], 2 * (2 * rows * 64 * 64) + 2 * (2 * rows * 64 * 32))

    def test_no_warning_where_the_lines_tell(self):
        for model in self.TRUTH:
            found = run("profile", f"{FOREIGN}/cast_{model}.pt2", "--dtype", "bf16")
            self.assertNotIn("file does not show", found.stdout + found.stderr)

    def test_casts_of_a_trace_that_did_nothing_follow(self):
        for model in ("clip", "conv", "times"):
            self.compare(f"cast_{model}.pt", self.OPTIONS)
        self.assertIn("the file does not show whether 4 casts or new tensors",
                      run("profile", f"{FOREIGN}/cast_clip.pt", "--dtype", "bf16").stdout)

    def test_functions_whose_lines_no_file_has(self):
        """truth/cast/functions.py has the models: an empty cache, casts that are undone, a table that two layers cast."""
        kinds = {model: ("fp32", "bf16", "autocast") for model in ("cache", "norm", "shared", "encoded", "rotary")}
        for model in kinds:
            for suffix in ("pt2", "pt"):
                self.compare(f"functions_{model}.{suffix}", kinds[model])

    def test_new_tensors_in_the_dtype_of_another_one(self):
        """truth/cast/functions.py: zeros of `y.dtype`, of `**like(x)` in a function, in the default dtype and in float32 by name."""
        self.compare("functions_padded.pt2", ("fp32", "bf16", "autocast"))
        for kind, wanted in self.FUNCTIONS["padded"].items():
            with self.subTest("with its Python", kind=kind):
                found = totals("functions_padded.pt", "--python-sources", ".", *self.OPTIONS[kind])
                self.assertEqual({figure: found[figure] for figure in wanted}, wanted)

    def test_what_cuda_would_refuse_was_guessed_wrongly(self):
        """A trace does not tell `mask.to(x.dtype)` from `mask.float()`; a product with a float32 mask is refused."""
        self.compare("cast_masked.pt", ("fp32", "bf16", "fp16"))
        for name, count in (("cast_masked.pt", "1 of them (first to) was"),
                            ("functions_encoded.pt2", "2 of them (first linspace) were")):
            self.assertIn(f"{count} taken the other way, as CUDA refuses a call otherwise",
                          run("profile", f"{FOREIGN}/{name}", "--dtype", "bf16").stdout)

    def test_wrong_guesses_inside_of_a_checkpoint(self):
        """The module of one node contains the linspace and the cast: the guesses are changed there, and noted."""
        for suffix in ("pt2", "pt"):
            name = f"functions_nested.{suffix}"
            self.compare(name, ("fp32", "bf16", "autocast"))
            found = read("profile", f"{FOREIGN}/{name}", "--dtype", "bf16", "--checkpoint", "inner")
            self.assertEqual(found["totals"]["fwd_flops"], self.FUNCTIONS["nested"]["bf16"]["fwd_flops"])
            self.assertIn("2 of them (first linspace) were taken the other way", " ".join(found["warnings"]))

    def test_casts_that_autocast_wakes_are_said(self):
        """`q.float()` of a function whose lines no file has does something under autocast: a warning says so. `turned.to(dtype)`
        of what that is made of is freed."""
        for suffix in ("pt2", "pt"):
            found = read("profile", f"{FOREIGN}/functions_rotary.{suffix}", "--autocast", "bf16")
            self.assertRegex(" ".join(found["warnings"]), r"under autocast \d+ casts \(first ")
        for kept in ("norm.pt2", "encoded.pt2"):
            self.assertNotIn("under autocast", " ".join(read("profile", f"{FOREIGN}/functions_{kept}")["warnings"]))

    def test_decorators_of_functions_in_a_trace(self):
        """`@torch.autocast(enabled=False)` and `@torch.no_grad()` are in the stack that the file has for each call."""
        for suffix in ("pt2", "pt"):
            self.compare(f"functions_decorated.{suffix}", ("fp32", "autocast"))

    def test_a_product_of_two_dtypes_names_the_cast_and_the_way_out(self):
        refused = run("profile", f"{FOREIGN}/functions_named.pt2", "--dtype", "bf16")
        self.assertEqual(refused.returncode, 2)
        for part in ("aten::addmm is given bfloat16 and float32", "float32 comes from node to (aten::to.dtype)",
                     "`return self.linear(x.float())`", "bfloat16 from parameter linear.weight",
                     "export the model in bfloat16, or give --autocast bf16"):
            self.assertIn(part, refused.stderr)
        self.assertNotIn("shapes", refused.stderr)

    def test_a_cast_to_the_type_of_an_onnx_file_follows(self):
        """Mul of ONNX requires operands of one dtype, so Cast(bool to FLOAT) produces the model's operand."""
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
