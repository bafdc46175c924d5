"""Every overload that a CUDA build of PyTorch has a kernel for: its shapes and products, or a refusal of one sentence."""
import importlib.util
import pathlib
import unittest

import symprof  # Before torch.

import torch
from symprof import _python_kernels
from torch import nn

COVERAGE = pathlib.Path(__file__).resolve().parents[2] / "truth/operator_coverage/coverage.py"
B, M, K, N = 3, 4, 8, 6


def coverage():
    spec = importlib.util.spec_from_file_location("coverage", COVERAGE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.coverage()


@torch.library.custom_op("symprof_coverage::without_fake", mutates_args=())
def without_fake(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.custom_op("symprof_coverage::picked", mutates_args=())
def picked(x: torch.Tensor) -> torch.Tensor:
    return x[x > 0]


@picked.register_fake
def _(x):
    return x.new_empty(torch.library.get_ctx().new_dynamic_size())


def run_of(program, **settings):
    with symprof.simulate(**settings) as run:
        program()
    return run.profile


def on_device(*sizes, dtype=torch.bfloat16, **others):
    return torch.empty(*sizes, dtype=dtype, device="cuda", **others)


class Coverage(unittest.TestCase):
    @unittest.skipUnless(COVERAGE.with_name(f"cuda_{'.'.join(torch.__version__.split('.')[:2])}.txt").exists(),
                         "the overloads of this version of PyTorch are not recorded")
    def test_each_overload_has_a_kernel_or_is_refused(self):
        found = coverage()
        self.assertGreater(len(found), 2500)
        self.assertEqual([name for name, word in found.items() if word == "unexpected"], [])
        self.assertLess(sum(word == "refused" for word in found.values()), 0.05 * len(found))

    def test_products_of_another_dtype_into_an_output(self):
        calls = {
            "mm": ((), (M, K), (K, N), 2 * M * K * N),
            "bmm": ((), (B, M, K), (B, K, N), 2 * B * M * K * N),
            "addmm": ((M, N), (M, K), (K, N), 2 * M * K * N),
            "baddbmm": ((B, M, N), (B, M, K), (B, K, N), 2 * B * M * K * N),
        }
        for name, (added, left, right, flops) in calls.items():
            def program(name=name, added=added, left=left, right=right):
                out = on_device(*left[:-1], right[-1], dtype=torch.float32)
                first = [on_device(*added, dtype=torch.float32)] if added else []
                made = getattr(torch, name)(*first, on_device(*left), on_device(*right), out_dtype=torch.float32, out=out)
                self.assertIs(made, out)
                self.assertEqual((made.shape, made.dtype), ((*left[:-1], right[-1]), torch.float32))

            self.assertEqual(run_of(program).totals["fwd_flops"], flops, name)

    def test_an_output_gets_the_size_of_what_is_written(self):
        def program():
            angle = torch.angle(on_device(M, N, dtype=torch.float32), out=on_device(0, dtype=torch.float32))
            self.assertEqual(angle.shape, (M, N))
            parts = torch.frexp(on_device(M, dtype=torch.float32),
                                out=(on_device(0, dtype=torch.float32), on_device(0, dtype=torch.int32)))
            self.assertEqual([part.shape for part in parts], [(M,), (M,)])

        run_of(program)

    def test_fused_optimizers(self):
        for kind, settings in ((torch.optim.SGD, {"momentum": 0.9}), (torch.optim.Adagrad, {}), (torch.optim.AdamW, {})):
            def program(kind=kind, settings=settings):
                model = nn.Linear(K, N).cuda()
                optimizer = kind(model.parameters(), lr=torch.tensor(0.1), fused=True, **settings) if kind is torch.optim.AdamW \
                    else kind(model.parameters(), lr=0.1, fused=True, **settings)
                for _ in range(2):
                    optimizer.zero_grad()
                    model(on_device(M, K, dtype=torch.float32)).sum().backward()
                    optimizer.step()

            self.assertEqual(run_of(program).totals["fwd_flops"], 2 * M * K * N, kind.__name__)

    def test_bilinear_is_two_products(self):
        features = 5
        profile = run_of(lambda: nn.Bilinear(K, N, features).cuda()(on_device(M, K, dtype=torch.float32),
                                                                    on_device(M, N, dtype=torch.float32)))
        self.assertEqual(profile.totals["fwd_flops"], 2 * M * features * K * N + 2 * M * features * N)


class PythonKernels(unittest.TestCase):
    def test_each_signature_is_asked_once(self):
        asked = []

        def kernel(x):
            asked.append(x.shape)
            return torch.empty(x.shape[::-1], dtype=torch.int32, device="meta"), None

        known = _python_kernels.remembering(torch.ops.aten.relu.default, kernel)
        for size in (M, M, K):
            made, nothing = known(torch.empty(size, N, device="meta"))
            self.assertEqual((made.shape, made.dtype, nothing), ((N, size), torch.int32, None))
        self.assertEqual(asked, [(M, N), (K, N)])

    def test_a_size_that_data_decide_is_its_upper_bound(self):
        profile = run_of(lambda: self.assertEqual(picked(on_device(M)).shape, (M,)))
        self.assertTrue(any("picked" in warning for warning in profile.data["warnings"]), profile.data["warnings"])


class Refusals(unittest.TestCase):
    def refused(self, program, *words):
        with self.assertRaises(symprof.Error) as caught, symprof.simulate():
            program()
        text = str(caught.exception)
        for word in (*words, "cannot be simulated", f"({pathlib.Path(__file__).name}:", "\n  "):
            self.assertIn(word, text)

    def test_quantized_tensors(self):
        self.refused(lambda: torch.quantize_per_tensor(on_device(M, dtype=torch.float32), 0.1, 0, torch.qint8),
                     "aten::quantize_per_tensor", "quantized")

    def test_sparse_gradients(self):
        def program():
            table = nn.Embedding(N, K, sparse=True).cuda()
            table(torch.zeros(M, dtype=torch.long, device="cuda")).sum().backward()

        self.refused(program, "sparse", "nn.Embedding(sparse=False)")

    def test_an_operator_without_a_kernel(self):
        self.refused(lambda: torch.ops.aten._triton_multi_head_attention(*[on_device(M, K)] * 3, K, 1, *[on_device(K)] * 4),
                     "aten::_triton_multi_head_attention", "register_fake")

    def test_a_custom_operator_without_a_fake_kernel(self):
        self.refused(lambda: without_fake(on_device(M)), "symprof_coverage::without_fake", "register_fake")


class PackedAttention(unittest.TestCase):
    heads, width, starts = 2, 16, (0, 10, 36, 64)

    def attention(self, ends):
        from torch.nn.attention.varlen import varlen_attn

        total, longest = self.starts[-1], max(b - a for a, b in zip(self.starts, self.starts[1:], strict=False))
        q, k, v = (on_device(total, self.heads, self.width, requires_grad=True) for _ in range(3))
        varlen_attn(q, k, v, ends, ends, longest, longest).sum().backward()

    def test_each_sequence_attends_to_itself(self):
        profile = run_of(lambda: self.attention(torch.tensor(self.starts, dtype=torch.int32, device="cuda")))
        pairs = sum((b - a) ** 2 for a, b in zip(self.starts, self.starts[1:], strict=False)) * self.heads
        self.assertEqual(profile.totals["fwd_flops"], 2 * 2 * pairs * self.width)
        self.assertEqual(profile.totals["bwd_flops"], 5 * 2 * pairs * self.width)
        self.assertEqual(profile.data["coverage"]["unmodelled_ops"], [])

    def test_unknown_lengths_are_the_longest(self):
        profile = run_of(lambda: self.attention(on_device(len(self.starts), dtype=torch.int32)))
        pairs = (len(self.starts) - 1) * 28**2 * self.heads
        self.assertEqual(profile.totals["fwd_flops"], 2 * 2 * pairs * self.width)


if __name__ == "__main__":
    unittest.main()
