"""Tests formulas: `symprof profile --symbolic`.

    symbolic.py PROGRAM [unittest arguments]
"""
import fractions
import math
import unittest

import program
from program import VIT

ONNX = "models/tiny/dynamic_shapes.onnx"
FUSED = "models/tiny/encoder.pt2"
WRITTEN_OUT = "models/tiny/encoder_written_out.pt2"
NAMED = ("--input", "x=[batch,seq,64]")
WIDTH, HEADS, LAYERS = 64, 4, 2  # The sizes of models/sized_models.py.


def run(*arguments):
    return program.run("profile", *arguments)


def read(*arguments):
    return program.read("profile", *arguments)


def formulas(model, *arguments, names="batch,seq"):
    return read(model, "--symbolic", names, *arguments)


def terms(figure):
    """{((name, power), ...): coefficient}"""
    return {tuple(sorted(term["powers"].items())): fractions.Fraction(term["coefficient"])
            for term in figure["terms"]}


def value(figure, sizes):
    return sum(fractions.Fraction(term["coefficient"]) *
               math.prod(sizes[name]**power for name, power in term["powers"].items())
               for term in figure["terms"])


TOKENS = (("batch", 1), ("seq", 1))
SCORES = (("batch", 1), ("seq", 2))


class ClosedForms(unittest.TestCase):
    def test_flops_of_attention_are_quadratic_in_the_sequence(self):
        """A product of [m, k] and [k, n] is 2 m k n. Forward: scores and their mix, over all heads
        2 * s * s * h each; the Linears have 12 h * h weights. Backward: gradients of both factors of
        each product; attention in one call computes its scores again."""
        for model, backward_products in [(WRITTEN_OUT, 4), (FUSED, 5)]:
            totals = formulas(model, *NAMED)["totals"]
            self.assertEqual(terms(totals["fwd_flops"]),
                             {SCORES: LAYERS * 2 * 2 * WIDTH, TOKENS: LAYERS * 2 * 12 * WIDTH**2})
            self.assertEqual(terms(totals["bwd_flops"]),
                             {SCORES: LAYERS * backward_products * 2 * WIDTH,
                              TOKENS: LAYERS * 2 * 2 * 12 * WIDTH**2})

    def test_saved_bytes_of_a_transformer_in_half_precision(self):
        """Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 4.1:
        a layer keeps s b h (34 + 5 a s / h) bytes. Theirs leaves out what a norm keeps besides its
        input: mean and reciprocal deviation of each token, in fp32. The input of the first norm is
        the graph's."""
        totals = formulas(WRITTEN_OUT, *NAMED, "--dtype", "fp16")["totals"]
        statistics = 2 * 2 * 4
        self.assertEqual(terms(totals["saved_bytes_with_inputs"]),
                         {SCORES: LAYERS * 5 * HEADS,
                          TOKENS: LAYERS * (34 * WIDTH + statistics)})

    def test_saved_bytes_of_attention_in_one_call(self):
        """No matrix of scores: a logarithm of the sum of exponentials for each row of it, in fp32,
        is kept. Memory-efficient attention rounds the rows up to multiples of 32 (kAlignLSE in
        ATen/native/transformers/cuda/mem_eff_attention/kernel_forward.h)."""
        saved = formulas(FUSED, *NAMED)["totals"]["saved_bytes_with_inputs"]
        self.assertEqual(saved["multiples_of"], {"batch": 1, "seq": 32})
        self.assertNotIn(SCORES, terms(saved))
        in_half_precision = formulas(FUSED, *NAMED, "--dtype", "bf16")
        row = next(row for row in in_half_precision["rows"] if "scaled_dot" in row["op_type"])
        self.assertEqual(row["incremental_bytes"]["multiples_of"], {"batch": 1, "seq": 1})

    def test_a_size_that_is_halved(self):
        totals = formulas(ONNX, names="batch,length")["totals"]
        self.assertEqual(totals["fwd_flops_all"]["multiples_of"], {"batch": 1, "length": 2})
        self.assertEqual(totals["fwd_flops"]["multiples_of"], {"batch": 1, "length": 1})


class AgainstProfiles(unittest.TestCase):
    """A formula gives what a profile of sizes gives that made no formula."""

    def compare(self, model, arguments, sizes, rows=True):
        names = ",".join(sizes)
        found = formulas(model, *arguments, names=names)
        sets = [word for name, size in sizes.items() for word in ("--set", f"{name}={size}")]
        profile = read(model, *arguments, *sets)
        compared = 0

        def check(figure, expected, where):
            nonlocal compared
            if "terms" not in figure:
                return
            if any(sizes[name] % multiple for name, multiple in figure["multiples_of"].items()):
                return
            self.assertEqual(value(figure, sizes), expected, where)
            compared += 1

        for key, figure in found["totals"].items():
            if key in profile["totals"]:
                check(figure, profile["totals"][key], key)
        self.assertGreater(compared, 8)
        self.assertEqual([row["op_type"] for row in found["rows"]],
                         [node["op"] for node in profile["nodes"]
                          if node["calls"] or node["op"] not in ("loss", "optimizer")])
        nodes = [node for node in profile["nodes"]
                 if node["calls"] or node["op"] not in ("loss", "optimizer")]
        for row, node in zip(found["rows"], nodes):
            check(row["incremental_bytes"], node["incremental_bytes"], row)
            check(row["fwd_flops"], node["fwd_flops_all"], row)
            check(row["bwd_flops"], node["bwd_flops_all"], row)
        self.assertGreater(compared, 8 + 2 * len(nodes))

    def test_one_dimension(self):
        self.compare(VIT, ["--optimizer", "adamw"], {"x.0": 20})
        self.compare(VIT, ["--optimizer", "adamw"], {"x.0": 256})
        self.compare("models/vit_b_16.onnx", [], {"batch": 77})

    def test_two_dimensions(self):
        self.compare(FUSED, [*NAMED, "--optimizer", "adamw"], {"batch": 5, "seq": 1024})
        self.compare(WRITTEN_OUT, [*NAMED, "--autocast", "bf16"], {"batch": 31, "seq": 77})
        self.compare(ONNX, [], {"batch": 9, "length": 1000})

    def test_modules_and_columns(self):
        found = formulas(FUSED, *NAMED, "--by", "module", "--depth", "2", "--columns",
                         "op,param,calls", "--unit", "macs", "--sort", "param", "--top", "2")
        self.assertEqual([row["op"] for row in found["rows"]], ["layers.0", "layers.1", ""])
        layer = 12 * WIDTH**2 + (3 + 1 + 4 + 1) * WIDTH + 2 * 2 * WIDTH  # Weights, biases, norms.
        self.assertEqual(terms(found["rows"][0]["param_bytes"]), {(): 4 * layer})
        self.assertEqual(terms(found["totals"]["fwd_macs"]),
                         {SCORES: LAYERS * 2 * WIDTH, TOKENS: LAYERS * 12 * WIDTH**2})


class Piecewise(unittest.TestCase):
    def test_a_peak_that_moves_says_where(self):
        peak = formulas(WRITTEN_OUT, *NAMED, "--dtype", "fp16")["totals"]["peak_allocated_bytes"]
        self.assertIn("would continue it", peak["no_formula"])
        totals = read(WRITTEN_OUT, *NAMED, "--dtype", "fp16", "--set", f"batch={peak['at']['batch']}",
                      "--set", f"seq={peak['at']['seq']}")["totals"]
        self.assertEqual(peak["measured"], totals["peak_allocated_bytes"])
        self.assertNotEqual(fractions.Fraction(peak["predicted"]), peak["measured"])
        text = run(WRITTEN_OUT, *NAMED, "--dtype", "fp16", "--symbolic", "batch,seq").stdout
        self.assertRegex(text, r"peak allocated +no polynomial: .* at batch=8, seq=\d+")

    def test_a_peak_that_is_the_largest_of_two_formulas(self):
        """GPT-2's update at short sequences, its backward pass at long ones."""
        arguments = ["models/gpt2.pt", "--input", "input_ids=[batch,seq]", "--optimizer", "adamw"]
        found = formulas(*arguments, "--set", "batch=4", "--set", "seq=128")["totals"]
        self.assertIn("no_formula", found["peak_requested_bytes"])
        moments = found["peak_requested_is_largest_of"]
        self.assertEqual([moment["at"].split()[0] for moment in moments],
                         ["backward", "optimizer"])
        for sizes in [{"batch": 3, "seq": 96}, {"batch": 5, "seq": 992}]:
            memory = read(*arguments, *(word for name, size in sizes.items()
                                        for word in ("--set", f"{name}={size}")))["memory"]
            self.assertEqual(max(value(moment, sizes) for moment in moments),
                             memory["requested_at_peak_bytes"])

    def test_rounding_to_blocks_shows_at_small_sizes_alone(self):
        peak = formulas(VIT, names="x.0")["totals"]["peak_tensor_bytes"]
        self.assertEqual(peak["multiples_of"], {"x.0": 128})

    def test_the_range_of_the_file(self):
        """ViT was exported for batches up to 4,096; the encoder for sequences up to 8,192."""
        found = formulas(FUSED, *NAMED, "--set", "seq=8192")
        sizes = found["variables"][1]["sizes"]
        self.assertEqual(found["refused"], [])
        self.assertLessEqual(max(sizes), 8192)
        self.assertEqual(terms(found["totals"]["fwd_flops"]),
                         terms(formulas(FUSED, *NAMED)["totals"]["fwd_flops"]))
        by_place = formulas(VIT, "--set", "x.0=4000", names="x.0")["variables"][0]["sizes"]
        self.assertLessEqual(max(by_place), 4096)


class Times(unittest.TestCase):
    """A curve gives the step's time that a profile of that size gives."""

    STEP = ("--input", "x=[batch,seq,64]", "--set", "seq=256", "--mode", "inference", "--device", "h100", "--time")

    def curve(self, *arguments, start=8):
        return formulas(FUSED, *self.STEP, "--set", f"batch={start}", *arguments, names="batch")["times"][0]

    def test_pieces_hold_at_sizes_that_were_not_tried(self):
        curve = self.curve()
        tried = {step["size"] for step in curve["sizes"]}
        self.assertEqual((curve["dimension"], curve["others"]), ("batch", {}))
        pieces = curve["pieces"]
        self.assertEqual([piece["last"] + 1 for piece in pieces[:-1]], [piece["first"] for piece in pieces[1:]])
        self.assertEqual([piece["break"] is None for piece in pieces], [False] * (len(pieces) - 1) + [True])
        self.assertEqual((pieces[0]["limit"], len(pieces[0]["coefficients_us"])), ("host", 1))
        self.assertNotEqual(pieces[-1]["limit"], "host")
        size = next(size for size in range(pieces[-1]["first"], pieces[-1]["last"]) if size not in tried)
        step = read(FUSED, *self.STEP, "--set", f"batch={size}")["totals"]["step_time_us"]
        found = sum(us * size**power for power, us in enumerate(pieces[-1]["coefficients_us"]))
        self.assertLess(abs(found / step - 1), 0.03)

    def test_without_a_host_nothing_waits_for_it(self):
        self.assertNotIn("host", {piece["limit"] for piece in self.curve("--launch", "graph")["pieces"]})

    def test_a_curve_ends_where_the_memory_does(self):
        curve = self.curve(start=4000)
        self.assertEqual(curve["end"], "memory")
        self.assertLess(curve["sizes"][-1]["size"], 32 * 4000)

    def test_as_text(self):
        text = run(FUSED, "--input", "x=[batch,seq,64]", "--symbolic", "batch,seq", "--time").stdout
        self.assertRegex(text, r"batch, seq=\d+ +Step +Off by +Limit +Nine of ten +What ends it")
        self.assertRegex(text, r"seq, batch=\d+ +Step")


class Errors(unittest.TestCase):
    def check(self, arguments, *texts):
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
        for text in texts:
            self.assertIn(text, result.stderr)

    def test_bad_questions(self):
        self.check([ONNX, "--symbolic", "bacth"], "--symbolic bacth: no input has a dimension",
                   "Did you mean 'batch'?")
        self.check([ONNX, "--symbolic", "batch,batch"], "names a dimension twice")
        self.check([ONNX, "--symbolic", "batch,"], "names a dimension twice, or none")
        self.check([ONNX, "--symbolic", "a,b,c,d,e"], "at most four")
        self.check([ONNX, "--symbolic", "batch", "--set", "batch=1000000000",
                    "--set", "length=6"],
                   "too large to start from")
        self.check([ONNX, "--symbolic", "batch", "--peak"], "Leave --symbolic out")
        self.check([ONNX, "--symbolic", "batch", "--format", "csv"], "Choose table or json")
        self.check([ONNX, "--symbolic", "batch", "--columns", "op,fwd_time"], "times are no polynomials",
                   "--time has the step's time as a curve")

    def test_a_model_whose_sizes_are_written_into_it(self):
        self.check(["models/gpt2.pt2", "--input", "input_ids=[batch,512]", "--symbolic", "batch"],
                   "--symbolic batch: no formula follows from fewer than 3 sizes",
                   "is invalid for input of size")


if __name__ == "__main__":
    program.main()
