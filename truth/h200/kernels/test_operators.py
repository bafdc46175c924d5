"""Rows of the sweep from a trace made by hand: which kernels belong to a repeat, and their spread."""
import unittest

from kernels import checks, operators, pack, points
from kernels import trace as traces

POINT = points.Point("elementwise", "relu", {"count": 64, "dtype": "float32"}, 0, 512, "repeated", 0)
NO_CLOCKS = (operators.NO_CLOCKS, operators.NO_CLOCKS)


def events(call_times):
    """Calls of two kernels each, as Kineto writes them; between two calls a kernel flushes the L2."""
    result, correlation = [], 0
    for repeat, times in enumerate(call_times):
        start = 1000.0 * (repeat + 1)
        result.append({"ph": "X", "cat": "user_annotation", "name": f"point/0/{repeat}", "pid": 1,
                       "tid": 1, "ts": start, "dur": 50.0})
        for place, (launch, microseconds) in enumerate(zip((-100.0, 10.0, 20.0), (80.0, *times))):
            correlation += 1
            args = {"correlation": correlation, "stream": 7}
            result.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                           "tid": 1, "ts": start + launch, "dur": 4.0, "args": args})
            result.append({"ph": "X", "cat": "kernel", "name": ("flush", "first", "second")[place],
                           "pid": 0, "tid": 7, "ts": start + launch + 5.0, "dur": microseconds,
                           "args": {**args, "grid": [4, 1, 1], "block": [128, 1, 1],
                                    "registers per thread": 16, "shared memory": 0}})
    return {"traceEvents": result}


def row(call_times, device="cuda", error=None):
    trace = traces.parse(events(call_times))
    found = list(traces.work_by_range(trace, "point/").items())
    return operators.row_of(POINT, found, error, device, NO_CLOCKS)


class Rows(unittest.TestCase):
    def test_times_of_a_call_are_the_sums_of_its_own_kernels(self):
        found = row([(3.0, 1.0), (5.0, 1.5), (4.0, 2.0)])
        self.assertEqual(found["kernel_ns"], {"median": 6000, "low_quartile": 4000,
                                              "high_quartile": 6500, "least": 4000, "most": 6500})
        self.assertEqual([(k["name"], k["least_ns"], k["median_ns"], k["most_ns"])
                          for k in found["kernels"]],
                         [("first", 3000, 4000, 5000), ("second", 1000, 1500, 2000)])
        self.assertEqual((found["repeats"], found["sequences"]), (3, 1))
        self.assertEqual(checks.check_points(pack.operators_document([found]), True), [])

    def test_without_a_gpu_or_after_an_error_nothing_is_claimed(self):
        for found in (row([(3.0, 1.0)], device="cpu"), row([(3.0, 1.0)], error="OutOfMemoryError")):
            self.assertIsNone(found["kernel_ns"]["median"])
            self.assertEqual(found["kernels"], [])

    def test_quartiles_are_measured_values(self):
        self.assertEqual(operators.spread([50, 10, 40, 20, 30]),
                         {"median": 30, "low_quartile": 20, "high_quartile": 40, "least": 10,
                          "most": 50})
        self.assertIsNone(operators.spread([])["median"])


if __name__ == "__main__":
    unittest.main()
