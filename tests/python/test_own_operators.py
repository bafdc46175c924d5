"""Operators that symprof does not know: custom ones of torch.library, and Triton kernels."""
import importlib.util
import unittest

import symprof  # Before torch.

import torch
import torch.utils.flop_counter

ROWS, WIDTH, FLOAT = 6, 64, 4
HAS_TRITON = importlib.util.find_spec("triton") is not None


@torch.library.custom_op("symprof_tests::pool_pairs", mutates_args=())
def pool_pairs(x: torch.Tensor) -> torch.Tensor:
    raise AssertionError("a CUDA kernel of somebody's, which cannot run here")


@pool_pairs.register_fake
def _(x):
    return x.new_empty(x.shape[0] // 2, x.shape[1])


@torch.library.custom_op("symprof_tests::counted", mutates_args=())
def counted(x: torch.Tensor) -> torch.Tensor:
    raise AssertionError("a CUDA kernel of somebody's, which cannot run here")


@counted.register_fake
def _(x):
    return torch.empty_like(x)


counted.register_autograd(lambda context, gradient: counted(gradient))


@symprof.cost_rule("symprof_tests::counted")
def cost_of_counted(call):
    assert call.op == "symprof_tests::counted" and call.input(0).dtype == "float32"
    return symprof.Cost(product_flops=2 * call.output(0).numel()) if call.input(0).sizes[1] == WIDTH else None


def run_of(program):
    with symprof.simulate() as run:
        program()
    return run.profile


def rows(profile, op):
    return [node for node in profile.nodes if node["op"].split(".")[0] == op]


class OwnOperators(unittest.TestCase):
    def test_a_custom_operator_has_its_shape_and_no_costs(self):
        profile = run_of(lambda: self.assertEqual(pool_pairs(torch.empty(ROWS, WIDTH, device="cuda")).shape, (ROWS // 2, WIDTH)))
        self.assertEqual(profile.data["coverage"]["unmodelled_ops"], ["symprof_tests::pool_pairs"])
        (row,) = rows(profile, "symprof_tests::pool_pairs")
        self.assertEqual(row["outputs"], [{"dtype": "float32", "shape": [ROWS // 2, WIDTH]}])
        self.assertEqual(row["confidence"], "unmodelled")

    def test_a_rule_says_what_it_costs_in_both_passes(self):
        profile = run_of(lambda: counted(torch.empty(ROWS, WIDTH, device="cuda", requires_grad=True)).sum().backward())
        self.assertEqual(profile.totals["fwd_flops"], 2 * ROWS * WIDTH)
        self.assertEqual(profile.totals["bwd_flops"], 2 * ROWS * WIDTH)
        self.assertEqual(profile.data["coverage"]["unmodelled_ops"], [])
        calls = [call for call in profile.calls if call["op"] == "symprof_tests::counted"]
        size = ROWS * WIDTH * FLOAT
        self.assertEqual([(call["bytes_read"], call["bytes_written"]) for call in calls], [(size, size)] * 2)

    def test_a_call_that_a_rule_does_not_cover_is_unmodelled(self):
        profile = run_of(lambda: counted(torch.empty(ROWS, WIDTH + 1, device="cuda")))
        self.assertEqual(profile.data["coverage"]["unmodelled_ops"], ["symprof_tests::counted"])

    def test_a_rule_wants_the_whole_name(self):
        with self.assertRaisesRegex(symprof.Error, "whole name"):
            symprof.cost_rule("counted")

    @unittest.skipUnless(HAS_TRITON, "Triton is not installed")
    def test_a_triton_kernel_is_an_unmodelled_row(self):
        import triton

        @triton.jit
        def add_one(source, result, count):
            pass

        def launch(x):
            result = torch.empty_like(x)
            add_one[(1,)](x, result, x.numel())
            return result

        @torch.library.triton_op("symprof_tests::add_one", mutates_args={})
        def add_one_op(x: torch.Tensor) -> torch.Tensor:
            result = torch.empty_like(x)
            torch.library.wrap_triton(add_one)[(1,)](x, result, x.numel())
            return result

        x = lambda: torch.empty(ROWS, WIDTH, device="cuda")
        profile = run_of(lambda: (launch(x()), add_one_op(x())))
        self.assertEqual(profile.data["coverage"]["unmodelled_ops"], ["symprof_tests::add_one", "triton::add_one"])
        self.assertTrue(any("triton::add_one" in warning for warning in profile.warnings))


torch.library.define("symprof_tests::products", "(Tensor left, Tensor right, int times=1) -> Tensor")


@torch.library.register_fake("symprof_tests::products")
def _(left, right, times=1):
    return left.new_empty(left.shape[0], right.shape[1])


@torch.utils.flop_counter.register_flop_formula(torch.ops.symprof_tests.products)
def flops_of_products(left, right, times=1, *, out_shape=None):
    return 2 * times * left[0] * left[1] * out_shape[1]


@symprof.cost_rule("symprof_tests::named")
def cost_of_named(call):
    return symprof.Cost(other_flops=call.arguments["times"] * call.arguments["left"].numel())


torch.library.define("symprof_tests::named", "(Tensor? before, Tensor left, int times) -> Tensor")


@torch.library.register_fake("symprof_tests::named")
def _(before, left, times):
    return torch.empty_like(left)


class Rules(unittest.TestCase):
    def test_formulas_of_torch_count_products(self):
        left, right = (lambda: torch.empty(ROWS, WIDTH, device="cuda")), (lambda: torch.empty(WIDTH, ROWS, device="cuda"))
        profile = run_of(lambda: torch.ops.symprof_tests.products(left(), right(), 3))
        self.assertEqual(profile.totals["fwd_flops"], 3 * 2 * ROWS * WIDTH * ROWS)

    def test_a_rule_knows_arguments_by_their_names(self):
        profile = run_of(lambda: torch.ops.symprof_tests.named(None, torch.empty(ROWS, WIDTH, device="cuda"), 7))
        self.assertEqual(profile.totals["fwd_flops_all"], 7 * ROWS * WIDTH)

    def test_kernels_of_packages_have_rules(self):
        """As bitsandbytes/_ops.py and fla/ops/common/chunk_o.py call them."""
        from symprof._costs import Call, Tensor, _known

        rows, hidden, out = Tensor((2, 3, 64), "bfloat16", 768), Tensor((64 * 32, 1), "uint8", 2048), Tensor((2, 3, 64), "bfloat16", 768)
        call = Call("bitsandbytes::gemm_4bit", (rows, hidden), (out,), {"A": rows, "B": hidden})
        self.assertEqual(_known()[call.op](call).product_flops, 2 * (2 * 3) * 64 * 64)
        weight, out = Tensor((32, 64), "int8", 2048), Tensor((2, 3, 32), "float16", 384)
        call = Call("bitsandbytes::int8_mixed_scaled_mm", (rows, weight), (out,), {"A": rows, "CB": weight})
        cost = _known()[call.op](call)
        self.assertEqual((cost.product_flops, cost.other_flops), (2 * (2 * 3) * 64 * 32, 0))
        batch, length, heads, size, chunk = 2, 128, 4, 32, 64
        tensor = Tensor((batch, length, heads, size), "bfloat16", 2 * batch * length * heads * size)
        numbers = {"T": length, "H": heads, "HV": heads, "K": size, "V": size, "BT": chunk}
        call = Call("triton::chunk_fwd_kernel_o", (tensor,) * 3, (), {"q": tensor, "k": tensor, "v": tensor, **numbers})
        per_token = size * size + chunk * size + chunk * size
        self.assertEqual(_known()[call.op](call).product_flops, 2 * batch * length * heads * per_token)
        self.assertIsNone(_known()[call.op](Call(call.op, (tensor,), (), {"q": tensor})))


if __name__ == "__main__":
    unittest.main()
