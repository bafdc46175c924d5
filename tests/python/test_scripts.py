"""What programs ask of CUDA, and whole scripts beside PyTorch's CUDA build (truth/scripts/)."""
import copy
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import symprof  # Before torch.

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TRUTH = ROOT / "truth/scripts"
sys.path.insert(0, str(TRUTH))
import device  # noqa: E402

MIB = 1 << 20
SMALL_SEGMENT = 2 * MIB  # kSmallBuffer of c10/cuda/CUDACachingAllocator.cpp
BLOCK = 512


class Memory(unittest.TestCase):
    def test_a_side_stream_has_blocks_of_its_own(self):
        with symprof.simulate():
            first = torch.empty(100, device="cuda")
            del first
            with torch.cuda.stream(torch.cuda.Stream()):
                torch.empty(100, device="cuda")
            self.assertEqual(torch.cuda.memory_reserved(), 2 * SMALL_SEGMENT)
            torch.empty(100, device="cuda")
            self.assertEqual(torch.cuda.memory_reserved(), 2 * SMALL_SEGMENT)

    def test_streams_come_and_go_with_their_context(self):
        with symprof.simulate():
            stream, outer = torch.cuda.Stream(), torch.cuda.current_stream()
            with torch.cuda.stream(stream):
                self.assertEqual(torch.cuda.current_stream(), stream)
            self.assertEqual(torch.cuda.current_stream(), outer)
            self.assertNotEqual(torch.cuda.Stream().stream_id, stream.stream_id)

    def test_a_deep_copy_takes_one_block_for_each_storage(self):
        with symprof.simulate() as run:
            whole = torch.empty(MIB, dtype=torch.uint8, device="cuda")
            copies = copy.deepcopy([whole, whole[: MIB // 2]])
            self.assertEqual(torch.cuda.memory_allocated(), 2 * MIB)
            self.assertEqual(torch.cuda.max_memory_allocated(), 2 * MIB + BLOCK)  # PyTorch makes each tensor empty first.
            self.assertEqual(copies[1].shape, (MIB // 2,))
        self.assertEqual([call["op"] for call in run.profile.calls].count("aten::copy_"), 1)

    def test_empty_cache_gives_free_segments_back(self):
        with symprof.simulate():
            kept, gone = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda"), torch.empty(32 * MIB, dtype=torch.uint8, device="cuda")
            del gone
            self.assertEqual(torch.cuda.memory_reserved(), 96 * MIB)
            torch.cuda.empty_cache()
            self.assertEqual(torch.cuda.memory_reserved(), kept.numel())
            self.assertEqual(torch.cuda.max_memory_reserved(), 96 * MIB)

    def test_peaks_count_from_their_reset(self):
        with symprof.simulate():
            large = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
            torch.cuda.reset_peak_memory_stats()
            del large
            self.assertEqual(torch.cuda.max_memory_allocated(), 64 * MIB)  # It was there when they were reset.
            torch.cuda.reset_peak_memory_stats()
            self.assertEqual(torch.cuda.max_memory_allocated(), 0)

    def test_a_cache_that_is_emptied_after_a_reset_was_there_at_the_reset(self):
        with symprof.simulate():
            kept, gone = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda"), torch.empty(32 * MIB, dtype=torch.uint8, device="cuda")
            del gone
            torch.cuda.reset_peak_memory_stats()
            torch.cuda.empty_cache()
            self.assertEqual(torch.cuda.memory_reserved(), kept.numel())
            self.assertEqual(torch.cuda.max_memory_reserved(), 96 * MIB)
            torch.cuda.reset_peak_memory_stats()
            self.assertEqual(torch.cuda.max_memory_reserved(), kept.numel())

    def test_a_cache_that_is_emptied_before_a_reset_is_no_peak_of_it(self):
        with symprof.simulate():
            kept, gone = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda"), torch.empty(32 * MIB, dtype=torch.uint8, device="cuda")
            del gone
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            later = torch.empty(2 * MIB, dtype=torch.uint8, device="cuda")
            self.assertLess(torch.cuda.max_memory_reserved(), kept.numel() + later.numel() + 32 * MIB)

    def test_statistics_agree_with_each_other(self):
        with symprof.simulate():
            kept = torch.empty(100, device="cuda")
            statistics = torch.cuda.memory_stats()
            self.assertEqual(statistics["allocated_bytes.all.current"], BLOCK)
            self.assertEqual(statistics["reserved_bytes.all.peak"], SMALL_SEGMENT)
            self.assertEqual(torch.accelerator.memory.memory_allocated(), kept.numel() * 4 // BLOCK * BLOCK + BLOCK)
            free, total = torch.cuda.mem_get_info()
            self.assertEqual(total - free, SMALL_SEGMENT)

    def test_a_new_convolution_that_is_timed_empties_the_cache(self):
        def reserved_after(benchmark, calls):
            with symprof.simulate():
                torch.backends.cudnn.benchmark = benchmark
                layer, x = nn.Conv2d(3, 8, 3).cuda(), torch.empty(1, 3, 32, 32, device="cuda")
                for _ in range(calls):
                    torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
                    layer(x)
                torch.backends.cudnn.benchmark = False
                return torch.cuda.memory_reserved()

        self.assertEqual(reserved_after(True, 1), SMALL_SEGMENT)
        self.assertEqual(reserved_after(False, 1), SMALL_SEGMENT + 64 * MIB)
        self.assertEqual(reserved_after(True, 2), SMALL_SEGMENT + 64 * MIB)  # It is not new any more.

    def test_switches_of_tf32_are_those_of_the_script(self):
        def step_us(make, sizes):
            with symprof.simulate("h100", time=True) as run:
                make().cuda()(torch.empty(sizes, device="cuda"))
            return run.profile.time["step_time_high_us"]

        def both():
            return (step_us(lambda: nn.Linear(4096, 4096), (4096, 4096)),
                    step_us(lambda: nn.Conv2d(256, 256, 3), (32, 256, 56, 56)))

        usual = both()
        try:
            torch.set_float32_matmul_precision("high")
            torch.backends.cudnn.allow_tf32 = False
            other = both()
        finally:
            torch.set_float32_matmul_precision("highest")
            torch.backends.cudnn.allow_tf32 = True
        self.assertLess(other[0], usual[0] / 2)
        self.assertGreater(other[1], usual[1] * 2)


class Values(unittest.TestCase):
    def test_texts_say_what_a_tensor_is(self):
        with symprof.simulate():
            x = torch.ones(2, 3, device="cuda", requires_grad=True)
            self.assertEqual(str(x), "tensor(..., device='cuda:0', size=(2, 3), dtype=torch.float32, requires_grad=True)")
            self.assertIn("grad_fn=<MulBackward0>", repr(x * 2))
            self.assertEqual(str(torch.ones(2)), "tensor([1., 1.])")

    def test_numbers_in_lists_are_those_of_item(self):
        with symprof.simulate() as run:
            x = torch.randn(2, 2, device="cuda")
            self.assertEqual(x.tolist(), [[1.0, 1.0], [1.0, 1.0]])
            self.assertEqual(x.isnan().any().cpu().tolist(), False)
            self.assertEqual(torch.tensor([3, 4]).tolist(), [3, 4])
        self.assertTrue(any("test_scripts.py" in warning for warning in run.profile.warnings))

    def test_a_checkpoint_has_shapes(self):
        with symprof.simulate() as run:
            model, file = nn.Linear(8, 4).cuda(), io.BytesIO()
            torch.save(model.state_dict(), file)
            file.seek(0)
            weight = torch.load(file)["weight"]
            self.assertEqual((weight.device.type, weight.shape), ("cuda", (4, 8)))
        self.assertTrue(any("torch.save" in warning for warning in run.profile.warnings))

    def test_inference_mode_counts_as_no_grad_does(self):
        def flops(mode):
            with symprof.simulate() as run, mode():
                model, x = nn.Linear(64, 32).cuda(), torch.randn(4, 64).cuda()
                self.assertEqual(float(model(x).flatten().sum().item()), 1.0)
                run.end_step()
            return run.profile.totals["fwd_flops"]

        self.assertEqual(flops(torch.inference_mode), flops(torch.no_grad))
        self.assertGreaterEqual(flops(torch.inference_mode), 2 * 4 * 64 * 32)


class Questions(unittest.TestCase):
    def test_pinned_memory_is_pinned_while_it_lives(self):
        with symprof.simulate():
            pinned = torch.arange(8).pin_memory()
            self.assertTrue(pinned.is_pinned() and pinned[3:].is_pinned())
            self.assertFalse(torch.arange(8).is_pinned())
            self.assertEqual(pinned.tolist(), list(range(8)))

    def test_generators_keep_their_seed(self):
        with symprof.simulate():
            generator = torch.Generator(device="cuda")
            generator.manual_seed(7)
            state = generator.get_state()
            generator.manual_seed(8)
            generator.set_state(state)
            self.assertEqual((generator.initial_seed(), generator.device.type), (7, "cuda"))
            self.assertEqual(torch.randn(3, generator=generator, device="cuda").shape, (3,))

    def test_data_parallel_on_one_device(self):
        with symprof.simulate():
            model = nn.DataParallel(nn.Linear(8, 4).cuda())
            self.assertEqual(model(torch.randn(2, 8)).device, torch.device("cuda", 0))

    def test_another_device_is_refused(self):
        for use in (lambda: torch.zeros(2, device="cuda:1"), lambda: nn.Linear(8, 4).to("cuda:1"), lambda: torch.ones(2, device="cuda").to("cuda:1"),
                    lambda: torch.cuda.set_device(1), lambda: torch.cuda.set_device("cuda:1")):
            with symprof.simulate(), self.assertRaisesRegex(symprof.Error, "cuda:1: of the devices of a program, cuda:0 alone is simulated"):
                use()
        with symprof.simulate():
            torch.cuda.set_device(torch.device("cuda", 0))
            self.assertEqual(torch.zeros(2, device="cuda:0").device, torch.zeros(2, device="cuda").device)

    def test_views_outside_of_modules_are_one_row(self):
        with symprof.simulate() as run:
            y = nn.Linear(8, 4).cuda()(torch.randn(2, 8, device="cuda"))
            held = [y.detach() for _ in range(3)]
            y.sum().backward()
        del held
        rows = [line.split() for line in run.profile.table("module", depth=2, width=None).splitlines() if line.startswith("aten::detach")]
        self.assertEqual([row[:3] for row in rows], [["aten::detach", "3", "nodes"]])

    def test_properties_of_the_device(self):
        """CUDA C++ Programming Guide, technical specifications by compute capability; L2_cache_size: the device's file."""
        for name, threads, shared in (("h100", 2048, 228), ("rtx4090", 1536, 100), ("t4", 1024, 64), ("v100", 2048, 96)):
            with symprof.simulate(device=name):
                found = torch.cuda.get_device_properties(0)
            self.assertEqual((found.max_threads_per_multi_processor, found.shared_memory_per_multiprocessor), (threads, shared * 1024))
            self.assertGreater(found.L2_cache_size, 0)
            with self.assertRaisesRegex(AttributeError, "memory_clock_rate: the file of NVIDIA"):
                found.memory_clock_rate

    def test_a_traced_module(self):
        with symprof.simulate() as run:
            model = torch.jit.trace(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).cuda(), torch.randn(2, 8, device="cuda"))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                model(torch.randn(2, 8, device="cuda")).sum().backward()
                optimizer.step()
        self.assertEqual(run.profile.totals["fwd_flops"], 2 * 2 * 8 * 16 + 2 * 2 * 16 * 4)
        self.assertEqual(run.profile.totals["param_count"], 8 * 16 + 16 + 16 * 4 + 4)
        self.assertEqual(sum("torch.jit" in warning for warning in run.profile.warnings), 1)

    def test_torchscript_fuses_nothing_for_a_driver_that_is_not_there(self):
        before = torch._C._jit_can_fuse_on_gpu()
        with symprof.simulate(device="h100"):
            self.assertFalse(torch._C._jit_can_fuse_on_gpu())
        self.assertEqual(torch._C._jit_can_fuse_on_gpu(), before)

    def test_what_is_compiled_runs_eagerly_where_that_is_asked_and_is_said(self):
        with symprof.simulate(eager=True) as run:
            model = torch.compile(nn.Linear(8, 4).cuda())
            model(torch.randn(2, 8).cuda()).sum().backward()
            run.end_step()
        self.assertTrue(any("torch.compile" in warning for warning in run.profile.warnings))

    def test_nothing_stays_behind(self):
        before = vars(torch._C).get("_cuda_memoryStats")  # A CUDA build has one.
        with symprof.simulate():
            torch.cuda.memory_allocated()
        self.assertFalse(torch.cuda.is_available())
        self.assertIs(vars(torch._C).get("_cuda_memoryStats"), before)
        self.assertEqual(str(torch.ones(2, device="meta")), "tensor(..., device='meta', size=(2,))")


def replay(name, kept):
    """The steps of a script of truth/scripts/, as torch.cuda tells them under `symprof run`."""
    script, *arguments = kept["command"].split()
    ranks = ["--ranks", str(kept["ranks"])] if kept["ranks"] else []
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "steps"
        simulated = ["--device", str(device.without_plans(folder)), *ranks]
        command = [sys.executable, "-m", "symprof", "run", *simulated, "--all", "-o", f"{folder}/report", str(TRUTH / "watch.py"),
                   str(out), str(len(kept["cuda"])), str(TRUTH / script), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{name}: {done.stderr}")
        return [json.loads(line) for line in out.read_text().splitlines()]


class Scripts(unittest.TestCase):
    def test_steps_take_what_they_take_in_the_cuda_build(self):
        for name, kept in json.loads((TRUTH / "own.json").read_text()).items():
            if kept["cuda"]:
                with self.subTest(name):
                    said = [{key: step[key] for key in kept["cuda"][0]} for step in replay(name, kept)]
                    self.assertEqual(said, kept["cuda"])


if __name__ == "__main__":
    unittest.main()
