"""Operators whose shapes PyTorch tells in Python alone, and custom ones whose shapes data decide."""
import pathlib
import unittest

import symprof  # Before torch.

import torch
from symprof import _python_kernels

B, M, K, N = 3, 4, 8, 6


@torch.library.custom_op("symprof_kernels::without_fake", mutates_args=())
def without_fake(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.custom_op("symprof_kernels::picked", mutates_args=())
def picked(x: torch.Tensor) -> torch.Tensor:
    return x[x > 0]


@picked.register_fake
def _(x):
    return x.new_empty(torch.library.get_ctx().new_dynamic_size())


def run_of(program, **settings):
    with symprof.simulate(**settings) as run:
        program()
    return run.profile


def on_device(*sizes, dtype=torch.bfloat16):
    return torch.empty(*sizes, dtype=dtype, device="cuda")


class PythonKernels(unittest.TestCase):
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

    def test_python_answers_outside_of_a_simulation_as_before(self):
        run_of(lambda: on_device(M))
        made = torch.addmm(*(torch.empty(*sizes, device="meta") for sizes in ((M, N), (M, K), (K, N))))
        self.assertEqual(made.shape, (M, N))

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

    def test_what_shares_memory_is_asked_each_time(self):
        def kernel(x):
            whole = torch.empty(2, *x.shape, device="meta")
            return whole[0], whole[1]

        known = _python_kernels.remembering(torch.ops.aten.relu.default, kernel)
        for _ in range(2):
            first, second = known(torch.empty(M, device="meta"))
            self.assertEqual(first.untyped_storage()._cdata, second.untyped_storage()._cdata)


class CustomOperators(unittest.TestCase):
    def test_a_size_that_data_decide_is_its_upper_bound(self):
        profile = run_of(lambda: self.assertEqual(picked(on_device(M, N)).shape, (M,)))
        self.assertTrue(any("symprof_kernels" in warning or "was used" in warning for warning in profile.data["warnings"]))

    def test_one_without_a_fake_kernel_is_refused(self):
        with self.assertRaises(symprof.Error) as caught, symprof.simulate():
            without_fake(on_device(M))
        place = f"({pathlib.Path(__file__).name}:"
        for words in ("symprof_kernels::without_fake: cannot be simulated", place, "\n  Give it one with torch.library.register_fake"):
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
