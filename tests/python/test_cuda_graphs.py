"""CUDA graphs that a program captures itself, beside PyTorch's CUDA build (truth/cuda_graphs), and what their replays count."""
import gc
import pathlib
import sys
import tempfile
import unittest

import symprof  # Before torch.

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "truth" / "cuda_graphs"))
import compare_graphs as compare  # noqa: E402

BATCH, WIDTH = 32, 64


class Records(unittest.TestCase):
    """Of PyTorch's CUDA build: all figures after warm-up, capture, replays, and once the graph is gone."""

    def test_figures_are_those_of_the_records(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, wanted in compare.RECORDS.items():
                with self.subTest(name):
                    found, _ = compare.simulated(name, pathlib.Path(folder))
                    self.assertEqual(found, wanted)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return self.down(torch.relu(self.up(x))).sum()


FLOPS = ("fwd_flops", "bwd_flops", "fwd_flops_all", "bwd_flops_all", "optimizer_flops", "saved_bytes", "grad_bytes", "optimizer_bytes")


def trained(step, model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = torch.randn(BATCH, WIDTH, device="cuda")
    return step(model, optimizer, x, steps)


def eagerly(model, optimizer, x, steps):
    for _ in range(steps):
        model(x).backward()
        optimizer.step()
        optimizer.zero_grad()


def in_a_graph(model, optimizer, x, steps, warm=3):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        eagerly(model, optimizer, x, warm)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        eagerly(model, optimizer, x, 1)
    for _ in range(steps):
        graph.replay()
    return graph


def run_of(step, steps=3, **settings):
    with symprof.simulate(**settings) as run:
        trained(step, Net().cuda(), steps)
    return run


class Replays(unittest.TestCase):
    def test_a_replayed_step_is_the_eager_one(self):
        eager, replayed = run_of(eagerly, time=True).profile, run_of(in_a_graph, time=True).profile
        self.assertEqual({name: replayed.totals[name] for name in FLOPS}, {name: eager.totals[name] for name in FLOPS})
        rows = [{node["name"]: (node["module"], node["fwd_flops"], node["bwd_flops"]) for node in profile.nodes} for profile in (eager, replayed)]
        self.assertEqual(rows[1], rows[0])
        ops = [[(call["op"], call["phase"]) for call in profile.calls] for profile in (eager, replayed)]
        self.assertEqual(ops[1], ops[0])
        self.assertEqual(replayed.time["launches"], eager.time["launches"])
        self.assertLess(replayed.time["host_time_us"], eager.time["host_time_us"] / 4)  # One launch for all.

    def test_steps_are_those_that_run(self):
        self.assertEqual(run_of(in_a_graph, steps=5).steps, 3 + 5)  # Warm-up and replays, but not the capture.

    def test_a_run_ends_in_a_replay(self):
        class Enough(BaseException):
            pass

        run = symprof.simulate()
        run.stop_after(3 + 2, Enough)
        with self.assertRaises(Enough), run:
            trained(in_a_graph, Net().cuda(), 5)
        self.assertEqual(run._program, None)

    def test_the_pool_is_told_apart(self):
        run = run_of(in_a_graph)
        memory = run.profile.data["memory"]
        self.assertGreater(memory["graph_pool_bytes"], 0)
        self.assertEqual(run_of(eagerly).profile.data["memory"]["graph_pool_bytes"], 0)
        self.assertIn("for CUDA graphs)", str(run.profile))

    def test_replays_take_no_memory(self):
        with symprof.simulate():
            graph = trained(in_a_graph, Net().cuda(), 1)
            torch.cuda.reset_peak_memory_stats()
            held = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
            for _ in range(3):
                graph.replay()
            self.assertEqual((torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()), held)

    def test_a_graph_that_python_drops_gives_its_pool_back(self):
        with symprof.simulate():
            model, x = Net().cuda(), torch.randn(BATCH, WIDTH, device="cuda")
            torch.cuda.synchronize()
            before = torch.cuda.memory_reserved()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph), torch.no_grad():
                made = model(x)
            graph.replay()
            self.assertGreater(torch.cuda.memory_reserved(), before)
            del graph, made
            gc.collect()
            torch.cuda.empty_cache()
            self.assertEqual(torch.cuda.memory_reserved(), before)

    def test_a_compiled_function_is_captured(self):
        def step(model, optimizer, x, steps):
            in_a_graph(torch.compile(model), optimizer, x, steps)

        kernels = [[call["op"] for call in run_of(step).profile.calls if call["op"].startswith("triton::")] for step in (
            step, lambda model, optimizer, x, steps: eagerly(torch.compile(model), optimizer, x, steps))]
        self.assertTrue(kernels[0])
        self.assertEqual(*kernels)


class Callables(unittest.TestCase):
    def test_modules_with_backward(self):
        def graphed(model, optimizer, x, steps):
            eagerly(torch.cuda.make_graphed_callables(model, (x,)), optimizer, x, steps)

        eager, replayed = run_of(eagerly).profile, run_of(graphed).profile
        self.assertEqual({name: replayed.totals[name] for name in FLOPS[:2]}, {name: eager.totals[name] for name in FLOPS[:2]})
        self.assertEqual(replayed.totals["grad_bytes"], eager.totals["grad_bytes"])


class Refusals(unittest.TestCase):
    def setUp(self):
        run = symprof.simulate()
        self.enterContext(run)
        self.model, self.x = Net().cuda(), torch.randn(BATCH, WIDTH, device="cuda")

    def test_numbers_are_not_read_in_a_capture(self):
        graph = torch.cuda.CUDAGraph()
        with self.assertRaisesRegex(RuntimeError, "not permitted when stream is capturing"), torch.cuda.graph(graph):
            self.model(self.x).item()

    def test_the_default_stream_is_not_captured(self):
        with self.assertRaisesRegex(RuntimeError, "non-default stream"):
            torch.cuda.CUDAGraph().capture_begin()

    def test_an_empty_graph_is_not_replayed(self):
        with self.assertRaisesRegex(RuntimeError, "without a preceding successful capture"):
            torch.cuda.CUDAGraph().replay()

    def test_adam_says_what_it_needs(self):
        optimizer = torch.optim.AdamW(self.model.parameters())
        with self.assertRaisesRegex(RuntimeError, "capturable"), torch.cuda.graph(torch.cuda.CUDAGraph()):
            self.model(self.x).backward()
            optimizer.step()

    def test_capturing_is_said(self):
        self.assertFalse(torch.cuda.is_current_stream_capturing())
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            self.assertTrue(torch.cuda.is_current_stream_capturing())
            self.model(self.x)


class Afterwards(unittest.TestCase):
    def test_torch_has_its_own_again(self):
        before = torch.cuda.CUDAGraph, torch.cuda.graphs.graph.default_capture_stream, torch._C.__dict__.get("_cuda_setStream")
        run_of(in_a_graph)
        self.assertEqual((torch.cuda.CUDAGraph, torch.cuda.graphs.graph.default_capture_stream, torch._C.__dict__.get("_cuda_setStream")), before)


if __name__ == "__main__":
    unittest.main()
