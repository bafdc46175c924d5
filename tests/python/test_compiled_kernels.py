"""The program's own Triton kernels in compiled code (symprof/_compiled/kernels.py)."""
import importlib.util
import os
import unittest

os.environ["XDG_CACHE_HOME"] = os.devnull  # No folder for graphs of earlier runs, which test_compiled_cache.py has.

import symprof  # Before torch.

import torch

from symprof._compiled import kernels

HAS_TRITON = importlib.util.find_spec("triton") is not None
ROWS, WIDTH = 64, 128
# As Inductor writes them.
SOURCE = """
import triton
from torch._inductor.runtime import triton_heuristics
@triton.jit
def helper(value, factor):
    return value * factor
@triton_heuristics.user_autotune(
    configs=[{'BLOCK': 512, 'num_warps': 4, 'num_stages': 3}, {'BLOCK': 1024, 'num_warps': 4, 'num_stages': 3}],
    inductor_meta={'kernel_name': 'scale_0'},
    triton_meta={'signature': {'x': '*fp32', 'bias': 'constexpr', 'out': '*fp32', 'n': 'i32', 'BLOCK': 'constexpr'},
                 'device': DeviceProperties(type='cuda', index=0), 'constants': {'bias': None}, 'configs': [{(0,): [['tt.divisibility', 16]]}]},
    filename=__file__, custom_kernel=True)
@triton.jit
def scale(x, bias, out, n, BLOCK: tl.constexpr):
    pass
"""


class Source(unittest.TestCase):
    def test_parameters_and_constants(self):
        kernel = kernels.triton(None, "scale", SOURCE)
        self.assertEqual((kernel.name, kernel.parameters, kernel.passed), ("scale", ("x", "bias", "out", "n", "BLOCK"), ("x", "out", "n")))
        self.assertEqual(kernel.constants, {"bias": None, "BLOCK": 512})

    def test_kernels_of_inductor_are_not_read(self):
        self.assertIsInstance(kernels.triton(None, "fused", "@triton_heuristics.pointwise(size_hints={'x': 4})"), kernels.Kernel)


@unittest.skipUnless(HAS_TRITON, "Triton is not installed")
class Launches(unittest.TestCase):
    """They cost what the same launch costs eagerly."""

    def calls(self, function, is_compiled):
        with symprof.simulate() as run:
            call = torch.compile(function) if is_compiled else function
            call(torch.randn(ROWS, WIDTH, device="cuda"))
            run.end_step()
        found = [call for call in run.profile.calls if call["op"] == "triton::symprof_tests_scale"]
        return [(call["flops"], call["bytes_read"], call["bytes_written"]) for call in found], run.profile.warnings

    def check(self, launch):
        def function(x):
            return (launch(x + 1) * 3).sum()

        without_rule = self.calls(function, True)
        self.assertEqual(without_rule[0], [(None, None, None)])
        self.assertTrue(any("triton::symprof_tests_scale" in warning for warning in without_rule[1]))
        try:
            symprof.cost_rule("triton::symprof_tests_scale")(
                lambda call: symprof.Cost(other_flops=call.arguments["n"], bytes_read=call.arguments["BLOCK"], bytes_written=4))
            compiled, eager = (self.calls(function, is_compiled)[0] for is_compiled in (True, False))
        finally:
            del symprof._costs._rules["triton::symprof_tests_scale"]
        self.assertEqual(compiled, [(ROWS * WIDTH, 1024, 4)])
        self.assertEqual(compiled[0], (eager or compiled)[0])  # An operator of torch.library is a call of its own eagerly.

    def kernel(self):
        import triton
        import triton.language as tl

        globals()["tl"] = tl

        @triton.jit
        def symprof_tests_scale(x, out, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

        return symprof_tests_scale

    def test_launched_by_the_function(self):
        kernel = self.kernel()

        def launch(x):
            out = torch.empty_like(x)
            kernel[(8,)](x, out, x.numel(), BLOCK=1024)
            return out

        self.check(launch)

    def test_launched_by_an_operator(self):
        kernel = self.kernel()

        @torch.library.triton_op("symprof_tests::scale", mutates_args={})
        def launch(x: torch.Tensor) -> torch.Tensor:
            out = torch.empty_like(x)
            torch.library.wrap_triton(kernel)[(8,)](x, out, x.numel(), BLOCK=1024)
            return out

        self.check(launch)


if __name__ == "__main__":
    unittest.main()
