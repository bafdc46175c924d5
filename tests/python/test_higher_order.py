"""Operators of higher order, FlexAttention, and jagged tensors: products are formulas of sizes, or what the CPU counts."""
import unittest
import warnings

import symprof  # Before torch.

import torch
import torch.nn.attention.flex_attention as flex  # noqa: F401
from torch import nn
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops.map import map as map_over
from torch.func import grad, vmap
from torch.nn.attention.flex_attention import and_masks, create_block_mask, flex_attention

BATCH, WIDTH = 4, 16
PRODUCT = 2 * BATCH * WIDTH * WIDTH
FLOAT = 4  # bytes


def simulated(function):
    with symprof.simulate() as run:
        function()
    return run.profile


def square():
    return torch.randn(WIDTH, WIDTH, device="cuda", requires_grad=True)


def batch(*sizes):
    return torch.randn(*sizes, BATCH, WIDTH, device="cuda")


class ControlFlow(unittest.TestCase):
    def test_a_branch_runs_with_its_gradient(self):
        def run():
            weight, x = square(), batch()
            torch.cond(x.sum() > 0, lambda x: x @ weight, lambda x: (x @ weight) @ weight, (x,)).sum().backward()
            self.assertEqual(weight.grad.shape, weight.shape)

        totals = simulated(run).totals
        # PyTorch runs the branch again for its gradient (torch/_higher_order_ops/cond.py: CondAutogradOp).
        self.assertEqual((totals["fwd_flops"], totals["bwd_flops"]), (PRODUCT, 2 * PRODUCT))

    def test_a_loop_on_known_numbers_makes_its_turns(self):
        def run():
            weight, count = square().detach(), torch.zeros((), dtype=torch.int64, device="cuda")
            while_loop(lambda count, x: count < 5, lambda count, x: (count + 1, x @ weight), (count, batch()))

        self.assertEqual(simulated(run).totals["fwd_flops"], 5 * PRODUCT)

    def test_scan_and_map_run_once_for_each_element(self):
        def run():
            weight = square().detach()
            scan(lambda carry, x: (torch.tanh(carry @ weight + x), x + 1), batch(), batch(3))
            map_over(lambda x, weight: x @ weight, batch(3), weight)

        self.assertEqual(simulated(run).totals["fwd_flops"], 6 * PRODUCT)

    def test_an_associative_scan_has_the_shape_of_its_input(self):
        with symprof.simulate():
            self.assertEqual(associative_scan(torch.add, batch(8), dim=0, combine_mode="generic").shape, (8, BATCH, WIDTH))

    def test_a_function_with_a_rule_for_vmap(self):
        class Product(torch.autograd.Function):
            generate_vmap_rule = True

            @staticmethod
            def forward(x, weight):
                return x @ weight

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)

            @staticmethod
            def backward(ctx, gradient):
                x, weight = ctx.saved_tensors
                return gradient @ weight.T, x.T @ gradient

        def run():
            weight = square().detach()
            gradients = vmap(grad(lambda x: Product.apply(x, weight).sum()))(batch(3))
            self.assertEqual(gradients.shape, (3, BATCH, WIDTH))

        totals = simulated(run).totals
        self.assertEqual(totals["fwd_flops"] + totals["bwd_flops"], 3 * 3 * PRODUCT)

    def test_an_operator_with_gradients_of_its_own(self):
        @torch.library.custom_op("symprof_test::scaled", mutates_args=())
        def scaled(x: torch.Tensor, scale: float) -> torch.Tensor:
            return x * scale

        scaled.register_fake(lambda x, scale: torch.empty_like(x))
        scaled.register_autograd(lambda ctx, gradient: (scaled(gradient, ctx.scale), None),
                                 setup_context=lambda ctx, inputs, output: setattr(ctx, "scale", inputs[1]))

        def run():
            weight = square()
            scaled(batch() @ weight, 2.0).sum().backward()
            self.assertEqual(weight.grad.shape, weight.shape)

        self.assertEqual(simulated(run).totals["bwd_flops"], PRODUCT)


def causal(b, h, q, k):
    return q >= k


HEADS, LENGTH, HEAD, BLOCK = 4, 512, 32, 128
BLOCKS = LENGTH // BLOCK
CAUSAL = BLOCKS * (BLOCKS + 1) // 2 * BLOCK * BLOCK  # Scores in the blocks that a causal mask keeps, of a head.


def heads(count=HEADS, dtype=torch.bfloat16):
    return torch.randn(BATCH, count, LENGTH, HEAD, device="cuda", dtype=dtype, requires_grad=True)


def of_attention(scores):
    """Two products forward, five backward."""
    return 2 * 2 * scores * HEAD, 5 * 2 * scores * HEAD


class Flex(unittest.TestCase):
    def compiled(self, *, score_mod=None, mask=causal, kv_heads=HEADS, block=BLOCK, mask_sizes=(None, None)):
        """Forward and backward products, the profile, and the gradients."""
        with symprof.simulate() as run:
            attention = torch.compile(flex_attention)
            made = create_block_mask(mask, *mask_sizes, LENGTH, LENGTH, device="cuda", BLOCK_SIZE=block) if mask else None
            query, key, value = heads(), heads(kv_heads), heads(kv_heads)
            out = attention(query, key, value, score_mod=score_mod, block_mask=made, enable_gqa=kv_heads != HEADS)
            self.assertEqual((out.shape, out.stride()), (query.shape, query.stride()))
            out.sum().backward()
            self.assertEqual([tensor.grad.shape for tensor in (query, key, value)], [query.shape, key.shape, value.shape])
        totals = run.profile.totals
        return (totals["fwd_flops"], totals["bwd_flops"]), run.profile

    def test_a_compiled_call_computes_the_blocks_that_its_mask_keeps(self):
        found, profile = self.compiled()
        self.assertEqual(found, of_attention(BATCH * HEADS * CAUSAL))
        calls = [call["op"] for call in profile.calls]
        self.assertEqual([calls.count(f"symprof::flex_attention{kind}") for kind in ("", "_backward")], [1, 1])
        self.assertEqual(profile.warnings, [])

    def test_without_a_mask_it_computes_all_scores(self):
        self.assertEqual(self.compiled(mask=None)[0], of_attention(BATCH * HEADS * LENGTH * LENGTH))

    def test_masks_of_heads_and_samples(self):
        first_head = lambda b, h, q, k: (q >= k) & (h == 0)
        self.assertEqual(self.compiled(mask=first_head, mask_sizes=(BATCH, HEADS))[0], of_attention(BATCH * CAUSAL))

    def test_masks_of_documents_read_tensors(self):
        def attended(device="cuda"):
            documents = torch.arange(LENGTH, device=device) // (LENGTH // 2)
            return and_masks(causal, lambda b, h, q, k: documents[q] == documents[k])

        with symprof.simulate():
            made = create_block_mask(attended(), None, None, LENGTH, LENGTH, device="cuda")
            on_host = create_block_mask(attended("cpu"), None, None, LENGTH, LENGTH, device="cpu")
            for name in ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "q_num_blocks", "full_q_indices"):
                self.assertEqual(getattr(made, name).tolist(), getattr(on_host, name).tolist(), name)

    def test_block_sizes_and_shared_heads(self):
        half = BLOCK // 2
        blocks = LENGTH // half
        scores = BATCH * HEADS * blocks * (blocks + 1) // 2 * half * half
        self.assertEqual(self.compiled(block=half, kv_heads=1)[0], of_attention(scores))

    def test_captured_tensors_get_gradients(self):
        with symprof.simulate():
            bias = torch.randn(HEADS, LENGTH, device="cuda", requires_grad=True)
            attention = torch.compile(flex_attention)
            attention(heads(), heads(), heads(), score_mod=lambda s, b, h, q, k: s + bias[h, k]).sum().backward()
            self.assertEqual(bias.grad.shape, bias.shape)

    def test_large_masks_are_known_and_never_whole_in_memory(self):
        length = 8192
        with symprof.simulate() as run:
            window = lambda b, h, q, k: (q >= k) & (q - k < 256)
            made = torch.compile(create_block_mask)(window, None, None, length, length, device="cuda")
            kept = int(made.kv_num_blocks.sum() + made.full_kv_num_blocks.sum())
            self.assertLess(torch.cuda.max_memory_allocated(), length * length)
        blocks = length // BLOCK
        self.assertEqual(kept, 3 * blocks - 3)  # A block on the diagonal, and two before it where there are two.
        self.assertTrue(run.profile)

    def test_unknown_masks_are_bounds_and_said(self):
        with symprof.simulate() as run:
            keep = torch.randn(LENGTH, device="cuda") > 0
            made = create_block_mask(lambda b, h, q, k: keep[q], None, None, LENGTH, LENGTH, device="cuda")
            torch.compile(flex_attention)(heads(), heads(), heads(), block_mask=made)
        self.assertEqual(run.profile.totals["fwd_flops"], of_attention(BATCH * HEADS * LENGTH * LENGTH)[0])
        self.assertEqual(len([warning for warning in run.profile.warnings if "block mask" in warning]), 1)
        self.assertTrue(any(node.get("upper_bound") for node in run.profile.nodes if "flex" in node["op"]))

    def test_eager_calls_have_all_scores_in_memory(self):
        def peak(attention):
            with symprof.simulate() as run:
                function = torch.compile(attention) if attention is flex_attention else attention
                with warnings.catch_warnings():
                    warnings.simplefilter("error", category=UserWarning)
                    function(heads(), heads(), heads()).sum().backward()
            return run.profile.totals["peak_allocated_bytes"]

        def eager(*tensors):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return flex_attention(*tensors)

        scores = BATCH * HEADS * LENGTH * LENGTH * FLOAT
        self.assertGreater(peak(eager), scores)
        self.assertLess(peak(flex_attention), scores)


class Compiled(unittest.TestCase):
    """Where it is asked to run eagerly (test_compiled.py has what compiles)."""

    def words(self, function):
        with symprof.simulate(eager=True) as run:
            function()
        return [warning for warning in run.profile.warnings if "torch.compile" in warning]

    def test_only_what_is_called_is_said(self):
        def decorate():
            torch.compile(lambda x: x)
            torch.compile(nn.Linear(WIDTH, WIDTH).cuda())

        self.assertEqual(self.words(decorate), [])
        self.assertEqual(len(self.words(lambda: torch.compile(lambda x: x + 1)(batch()))), 1)
        self.assertEqual(len(self.words(lambda: torch.compile(nn.Linear(WIDTH, WIDTH).cuda())(batch()))), 1)

    def test_backends_that_run_pytorch_s_kernels_are_not(self):
        self.assertEqual(self.words(lambda: torch.compile(torch.add, backend="eager")(batch(), 1)), [])
        self.assertEqual(self.words(lambda: torch.cond(batch().sum() > 0, torch.sin, torch.cos, (batch(),))), [])

    def test_methods_stay_methods(self):
        class Net(nn.Module):
            @torch.compile
            def forward(self, x):
                return x * 2

        self.assertEqual(len(self.words(lambda: self.assertEqual(Net()(batch()).shape, (BATCH, WIDTH)))), 1)


LENGTHS = (17, 50, 33)


class Jagged(unittest.TestCase):
    def test_attention_of_sequences_without_padding(self):
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.LayerNorm(HEADS * HEAD)
                self.qkv, self.out = nn.Linear(HEADS * HEAD, 3 * HEADS * HEAD), nn.Linear(HEADS * HEAD, HEADS * HEAD)

            def forward(self, x):
                split = (part.unflatten(-1, (HEADS, HEAD)).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
                return x + self.out(nn.functional.scaled_dot_product_attention(*split).transpose(1, 2).flatten(-2))

        tokens, pairs, width = sum(LENGTHS), sum(length * length for length in LENGTHS), HEADS * HEAD
        for dtype, kernel in ((torch.bfloat16, "flash"), (torch.float32, "efficient")):
            with symprof.simulate() as run:
                model = Attention().to("cuda", dtype)
                parts = [torch.randn(length, width, device="cuda", dtype=dtype) for length in LENGTHS]
                x = torch.nested.nested_tensor(parts, layout=torch.jagged)
                self.assertEqual(x.offsets().tolist(), [0, 17, 67, 100])
                model(x).values().sum().backward()
            forward = 2 * tokens * width * 4 * width + 4 * HEADS * pairs * HEAD
            self.assertEqual(run.profile.totals["fwd_flops"], forward)
            self.assertTrue(any(kernel in call["op"] for call in run.profile.calls))

    def test_strided_nested_tensors_are_refused_in_words(self):
        with symprof.simulate(), self.assertRaisesRegex(symprof.Error, "torch.jagged"):
            torch.nested.nested_tensor([torch.randn(length, WIDTH, device="cuda") for length in LENGTHS])


if __name__ == "__main__":
    unittest.main()
