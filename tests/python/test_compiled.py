"""torch.compile in a simulation: compiled steps beside those of PyTorch's CUDA build (truth/compiled), and what is left in torch."""
import gc
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

os.environ["XDG_CACHE_HOME"] = os.devnull  # No folder for graphs of earlier runs, which test_compiled_cache.py has.

import symprof  # Before torch.

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "truth" / "compiled"))
import compare  # noqa: E402

BATCH, WIDTH = 32, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(x)))


class Net(nn.Module):
    def __init__(self, blocks=2):
        super().__init__()
        self.blocks = nn.Sequential(*(Block() for _ in range(blocks)))

    def forward(self, x):
        return self.blocks(x).sum()


def batch():
    return torch.randn(BATCH, WIDTH, device="cuda")


def step(call, model, steps=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        call(batch()).backward()
        optimizer.step()
        optimizer.zero_grad()


def compiled(model):
    return torch.compile(model)  # The simulation's, where it is called.


def profile_of(compiled=compiled, **settings):
    with symprof.simulate(**settings) as run:
        model = Net().cuda()
        step(compiled(model), model)
    return run.profile


def kernels(profile):
    return [call["op"] for call in profile.calls if call["op"].startswith("triton::")]


def words(profile):
    return [warning for warning in profile.warnings if "torch.compile" in warning]


class Records(unittest.TestCase):
    """Of PyTorch's CUDA build, 2.13: another release names some kernels otherwise."""

    def check(self, case):
        row = compare.row(case)
        self.assertEqual((row["saved_difference"], row["kernels"]), (0, row["kernels_theirs"]), row)
        if torch.__version__.startswith("2.13."):
            self.assertTrue(row["same_kernels"], row)
        self.assertLess(abs(row["peak_percent"]), 0.5, row)

    def test_a_network_of_two_layers(self):
        self.check("mlp-autocast-default-foreach")

    def test_a_transformer_block_by_block(self):
        self.check("gpt-autocast-regional-foreach")


class Rows(unittest.TestCase):
    def test_kernels_belong_to_the_modules_that_they_were_made_of(self):
        profile = profile_of()
        modules = {node["module"] for node in profile.nodes if node["op"].startswith("triton::")}
        self.assertLessEqual({"blocks.0", "blocks.1"}, {".".join(module.split(".")[:2]) for module in modules})
        products = {node["module"] for node in profile.nodes if node["op"] in ("aten::mm", "aten::addmm")}
        self.assertLessEqual({"blocks.0.first", "blocks.1.second"}, products)
        self.assertEqual(words(profile), [])

    def test_a_kernel_of_two_reductions_is_counted(self):
        """The backward pass of a layer norm reduces rows and columns in one kernel."""
        model = nn.Sequential(nn.Linear(768, 768), nn.LayerNorm(768), nn.Linear(768, 768))
        profile = symprof.profile(torch.compile(model), torch.randn(8192, 768), no_cache=True)
        self.assertEqual(profile.data["coverage"]["unmodelled_ops"], [])
        self.assertTrue(any("native_layer_norm_backward" in call["op"] for call in profile.calls))

    def test_products_cost_what_they_cost_eagerly(self):
        names = ("fwd_flops", "bwd_flops")
        ours, eager = (profile_of(make).totals for make in (compiled, lambda model: model))
        self.assertEqual(*([totals[name] for name in names] for totals in (ours, eager)))

    def test_buffers_belong_to_the_kernel_that_writes_them(self):
        nodes = profile_of().nodes
        self.assertFalse([node for node in nodes if node["op"] == "aten::empty_strided"])
        first = next(node for node in nodes if node["module"] == "blocks.0.first")
        self.assertEqual(first["incremental_bytes"], 4 * BATCH * 4 * WIDTH)  # ReLU is computed in place of it.

    def test_equal_blocks_share_their_code(self):
        def regional(model):
            for block in model.blocks:
                block.compile()
            return model

        profile = profile_of(regional)
        modules = {node["module"] for node in profile.nodes if node["op"].startswith("triton::")}
        self.assertTrue({"blocks.0", "blocks.1"} <= {".".join(module.split(".")[:2]) for module in modules}, modules)

    def test_a_function_around_the_model(self):
        def function(model):
            return torch.compile(lambda x: model(x) * 2)

        profile = profile_of(function)
        self.assertTrue(kernels(profile))


class Optimizers(unittest.TestCase):
    def test_a_compiled_step_ends_the_training_step(self):
        with symprof.simulate() as run:
            model = Net().cuda()
            optimizer = torch.optim.Adam(model.parameters())
            update = torch.compile(optimizer.step)
            for _ in range(3):
                model(batch()).backward()
                update()
                optimizer.zero_grad()
        self.assertEqual(run.steps, 3)
        updates = [call["op"] for call in run.profile.calls if call["phase"] == "optimizer"]
        self.assertTrue(any(op.startswith("triton::") for op in updates), updates)
        self.assertEqual(run.profile.data["totals"]["optimizer_bytes"], 2 * 4 * sum(p.numel() for p in Net().parameters()) + 4 * 8)


class Settings(unittest.TestCase):
    def test_eager_runs_it_eagerly_and_says_so(self):
        profile = profile_of(eager=True)
        self.assertEqual((kernels(profile), len(words(profile))), ([], 1))

    def test_modes_that_are_not_simulated_are_said(self):
        profile = profile_of(lambda model: torch.compile(model, mode="max-autotune-no-cudagraphs"))
        self.assertTrue(kernels(profile))
        self.assertIn("max-autotune", words(profile)[0])

    def test_sizes_may_be_symbols(self):
        """Also those by which the kernel of attention is chosen."""
        from torch._inductor.graph import GraphLowering

        def attend(x):
            y = torch.nn.functional.scaled_dot_product_attention(x, x, x)
            return (y * 2).sum()

        made = []
        with symprof.simulate() as run:
            call = torch.compile(attend, dynamic=True)
            make = GraphLowering.compile_to_module

            def note(*args, **kwargs):
                made.append(args[0])
                return make(*args, **kwargs)

            with mock.patch.object(GraphLowering, "compile_to_module", note):
                for rows in (256, 512, 640):
                    call(torch.randn(2, 4, rows, 64, device="cuda", requires_grad=True)).backward()
                    run.end_step()
        self.assertEqual((len(made), bool(kernels(run.profile))), (2, True))

    def test_products_that_may_be_padded_are_named(self):
        with symprof.simulate() as run:
            model = nn.Linear(4096, 4095).cuda()
            torch.compile(model)(torch.randn(4096, 4096, device="cuda")).sum().backward()
            run.end_step()
        self.assertIn("4096×4096×4095", words(run.profile)[0])

    def test_a_graph_that_breaks(self):
        def forward(x):
            x = x * 2
            torch._dynamo.graph_break()
            return x + 1

        with symprof.simulate() as run:
            torch.compile(forward)(batch())
            run.end_step()
        self.assertEqual(len(kernels(run.profile)), 2)

    def test_what_fails_runs_eagerly(self):
        def fails(*args, **kwargs):
            raise RuntimeError("no lowering")

        import torch._inductor.graph

        with mock.patch.object(torch._inductor.graph.GraphLowering, "run", fails):
            profile = profile_of()
        self.assertEqual((kernels(profile), len(words(profile))), ([], 1))
        self.assertIn("no lowering", words(profile)[0])

    def test_what_dynamo_fails_on_runs_eagerly(self):
        with symprof.simulate() as run:
            model = torch.compile(nn.DataParallel(nn.Linear(WIDTH, WIDTH).cuda()))
            model(batch()).sum().backward()
            run.end_step()
        self.assertEqual(run.profile.totals["fwd_flops"], 2 * BATCH * WIDTH * WIDTH)

    def test_profile_takes_a_compiled_module(self):
        profile = symprof.profile(torch.compile(Net()), torch.randn(BATCH, WIDTH), loss=lambda loss: loss, optimizer="sgd")
        self.assertTrue(kernels(profile))


class CudaGraphs(unittest.TestCase):
    """mode="reduce-overhead"."""

    def test_what_is_replayed_lies_in_the_pool(self):
        peaks, reserved, steps = [], [], 4
        with symprof.simulate() as run:
            model, x = Net().cuda(), torch.randn(4096, WIDTH, device="cuda")
            call = torch.compile(model, mode="reduce-overhead")
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
            held = torch.cuda.memory_allocated()
            for _ in range(steps):
                torch.compiler.cudagraph_mark_step_begin()
                torch.cuda.reset_peak_memory_stats()
                call(x).backward()
                optimizer.step()
                optimizer.zero_grad()
                peaks.append(torch.cuda.max_memory_allocated())
                reserved.append(torch.cuda.memory_reserved())
        # Run once and recorded: the hidden values of the first block, at least. Then: the loss's gradient alone.
        self.assertGreater(min(peaks[:2]), held + 4096 * 4 * WIDTH * 4)
        self.assertEqual(peaks[2:], [held + 3 * 512] * 2)  # And what the generator keeps for graphs.
        self.assertEqual(reserved[1], reserved[-1])
        self.assertIn("CUDA graphs hold", run.profile.warnings[-1])
        self.assertGreater(run.profile.data["memory"]["graph_pool_bytes"], 4096 * 4 * WIDTH * 4)
        copies = [call["op"] for call in run.profile.calls if call["op"] == "aten::_foreach_copy_"]
        self.assertEqual(len(copies), 2)  # Of the batch, and of the loss's gradient.

    def test_the_same_kernels_run(self):
        def mode(name):
            return kernels(profile_of(lambda model: torch.compile(model, mode=name)))

        self.assertEqual(mode("reduce-overhead"), mode("default"))

    def test_a_program_may_say_where_a_step_begins(self):
        """Also where nothing is compiled."""
        with symprof.simulate() as run:
            torch.compiler.cudagraph_mark_step_begin()
            batch().sum()
            run.end_step()


class FlexAttention(unittest.TestCase):
    HEADS, LENGTH, SIZE, BLOCK = 4, 512, 64, 128

    def profile(self, mask=lambda batch, head, query, key: query >= key):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        with symprof.simulate() as run:
            sizes = (1, self.HEADS, self.LENGTH, self.SIZE)
            blocks = create_block_mask(mask, None, None, self.LENGTH, self.LENGTH, device="cuda", BLOCK_SIZE=self.BLOCK)
            x = torch.randn(sizes, device="cuda", requires_grad=True)
            call = torch.compile(lambda x: flex_attention(x * 2, x, x, block_mask=blocks).sum())
            for _ in range(2):
                call(x).backward()
                run.end_step()
        return run.profile

    def test_blocks_that_the_mask_leaves_out_cost_nothing(self):
        profile = self.profile()
        count = self.LENGTH // self.BLOCK
        scores = self.HEADS * count * (count + 1) // 2 * self.BLOCK**2
        templates = [call for call in profile.calls if call["op"].startswith("triton::triton_tem_")]
        self.assertEqual([call["flops"] for call in templates], [2 * products * scores * self.SIZE for products in (2, 5)])
        self.assertEqual(words(profile), [])

    def test_a_sliding_window(self):
        profile = self.profile(lambda batch, head, query, key: (query >= key) & (query - key < 128))
        scores = self.HEADS * (2 * self.LENGTH // self.BLOCK - 1) * self.BLOCK**2
        self.assertIn(4 * scores * self.SIZE, [call["flops"] for call in profile.calls])


def state():
    """What the compiler's answers stand in."""
    import torch._inductor.compile_fx
    from torch._dynamo import callback, device_interface, eval_frame, guards
    from torch._inductor import async_compile, codecache, config, graph, scheduler
    from torch._subclasses.fake_tensor import FakeTensorMode

    owners = (device_interface.CudaInterface, device_interface.CudaInterface.Worker, eval_frame, guards.CheckFunctionManager,
              async_compile.AsyncCompile, codecache.PyCodeCache, graph.GraphLowering, scheduler, torch._inductor.compile_fx,
              torch._C._dynamo.guards, torch._C, torch.cuda, FakeTensorMode)
    handlers = callback.callback_handler
    return ([{name: value for name, value in vars(owner).items() if callable(value) or isinstance(value, (property, classmethod))}
             for owner in owners],
            config.get_config_copy(), len(codecache.PyCodeCache.modules), len(handlers.start_callbacks), len(handlers.end_callbacks),
            os.environ.get("TORCHINDUCTOR_CACHE_DIR"), torch.compile, torch.cuda.is_available())


class Left(unittest.TestCase):
    """A simulation leaves nothing behind."""

    @classmethod
    def setUpClass(cls):
        profile_of()  # Imports, once for the process.

    def test_nothing(self):
        before = state()
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            profile_of()
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(state(), before)

    def test_no_graph(self):
        """torch keeps some of its own descriptions, of fake tensors for example."""
        def held():
            gc.collect()
            return sum(isinstance(each, torch.fx.Node) for each in gc.get_objects())

        profile_of()
        before = held()
        for _ in range(2):
            profile_of()
        self.assertEqual(held(), before)

    def test_nothing_after_an_exception(self):
        before = state()
        with self.assertRaises(ZeroDivisionError), symprof.simulate():
            torch.compile(lambda x: x + 1)(batch())
            raise ZeroDivisionError
        self.assertEqual(state(), before)

    def test_nothing_after_an_interrupt_of_the_compiler(self):
        before = state()

        def interrupted(*args, **kwargs):
            raise KeyboardInterrupt

        with mock.patch.object(torch._inductor.graph.GraphLowering, "run", interrupted), self.assertRaises(KeyboardInterrupt):
            profile_of()
        self.assertEqual(state(), before)
        self.assertTrue(kernels(profile_of()))

    def test_a_simulation_inside_of_another(self):
        before = state()
        with symprof.simulate() as outer:
            model = Net().cuda()
            call = torch.compile(model)
            step(call, model, 1)
            inner = profile_of()
            step(call, model, 1)
        self.assertEqual(state(), before)
        self.assertEqual(kernels(outer.profile), kernels(inner))

    @unittest.skipUnless(shutil.which("g++"), "Inductor compiles for the host with it")
    def test_a_real_compilation_before_and_after(self):
        torch.manual_seed(0)
        model, x = Net(), torch.randn(BATCH, WIDTH)
        wanted, call = model(x), torch.compile(model)
        torch.testing.assert_close(call(x), wanted, rtol=1e-4, atol=1e-3)
        self.assertTrue(kernels(symprof.profile(call, x, loss=lambda loss: loss, optimizer="sgd")))
        torch.testing.assert_close(call(x), wanted, rtol=1e-4, atol=1e-3)
        torch.testing.assert_close(torch.compile(lambda y: model(y) * 1)(x), wanted, rtol=1e-4, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
