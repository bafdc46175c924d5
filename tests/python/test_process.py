"""One process: simulations beside threads, interrupts, other modes and real training."""
import gc
import linecache
import pathlib
import queue
import signal
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import symprof  # Before torch.

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

PACKAGE = str(pathlib.Path(symprof.__file__).parent)
GPT2 = pathlib.Path(__file__).resolve().parent.parent.parent / "models/gpt2.pt2"
BATCH, WIDTH, HIDDEN = 4, 64, 256
FLOAT = 4  # Bytes.
PRODUCTS = 4 * BATCH * WIDTH * HIDDEN


def feedforward(hidden=HIDDEN):
    return nn.Sequential(nn.Linear(WIDTH, hidden), nn.ReLU(), nn.Linear(hidden, WIDTH))


def rows_of(profile):
    return [(node["module"], node["op"], node["fwd_flops"], node["bwd_flops"]) for node in profile.nodes]


def state_of_torch():
    """What a simulation puts into torch, and takes out again."""
    modules = torch.nn.modules.module
    return (torch.cuda.is_available(), torch.Tensor.data, torch.Tensor.__deepcopy__, torch.compile, torch.cuda.Stream, torch.version.cuda,
            torch.autograd.graph._engine_run_backward, torch._tensor_str._str, hasattr(torch._C, "_cuda_memoryStats"),
            len(modules._global_forward_pre_hooks), len(modules._global_forward_hooks),
            torch._C._dispatch_has_kernel_for_dispatch_key("aten::normal_", "Meta"), signal.getsignal(signal.SIGINT))


class Threads(unittest.TestCase):
    def in_threads(self, *functions):
        found = [None] * len(functions)

        def run(i):
            try:
                found[i] = functions[i]()
            except BaseException as error:
                found[i] = error

        threads = [threading.Thread(target=run, args=(i,)) for i in range(len(functions))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in found:
            if isinstance(result, BaseException):
                raise result
        return found

    def test_two_threads_profile(self):
        before = state_of_torch()
        models = [feedforward(HIDDEN), feedforward(2 * HIDDEN)]
        alone = [rows_of(symprof.profile(model, torch.randn(BATCH, WIDTH), optimizer="adamw")) for model in models]

        def profiles(model):
            return lambda: [rows_of(symprof.profile(model, torch.randn(BATCH, WIDTH), optimizer="adamw")) for _ in range(3)]

        together = self.in_threads(*map(profiles, models))
        self.assertEqual(together, [[rows] * 3 for rows in alone])
        self.assertEqual(state_of_torch(), before)

    def test_files_are_profiled_side_by_side(self):
        before = state_of_torch()
        alone = symprof.profile(GPT2, batch=1).totals
        together = self.in_threads(*[lambda: symprof.profile(GPT2, batch=1).totals] * 3)
        self.assertEqual(together, [alone] * 3)
        self.assertEqual(state_of_torch(), before)

    def test_a_simulation_in_another_is_no_part_of_it(self):
        """As a script does that simulates by itself, under `symprof run`."""
        with symprof.simulate() as outer:
            for _ in range(2):
                with symprof.simulate() as inner:
                    model = nn.Linear(8, 8).cuda()
                    optimizer = torch.optim.AdamW(model.parameters())
                    model(torch.randn(4, 8, device="cuda")).sum().backward()
                    optimizer.step()
                self.assertEqual(inner.profile.totals["optimizer_bytes"], 2 * 4 * (8 * 8 + 8))
        self.assertEqual(outer.profile.totals["fwd_flops"], 0)

    def test_training_in_another_thread_is_no_part_of_it(self):
        alone = rows_of(symprof.profile(feedforward(), torch.randn(BATCH, WIDTH), optimizer="sgd"))
        stop, steps = threading.Event(), []

        def train():
            model = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            while not stop.is_set():
                model(torch.ones(2, 3)).sum().backward()
                optimizer.step()
                steps.append(model[0].weight.device.type)

        def profile():
            try:
                while not steps:
                    pass
                return [rows_of(symprof.profile(feedforward(), torch.randn(BATCH, WIDTH), optimizer="sgd")) for _ in range(5)]
            finally:
                stop.set()

        beside = self.in_threads(train, profile)[1]
        self.assertEqual(beside, [alone] * 5)
        self.assertEqual(set(steps), {"cpu"})


class ThreadsOfAProgram(unittest.TestCase):
    """A simulation is of one thread: what another one does on the device is refused, and nobody waits for it."""

    def test_a_program_that_waits_for_its_thread_ends(self):
        before = state_of_torch()
        batches = queue.Queue()
        thread = threading.Thread(target=lambda: batches.put(torch.randn(BATCH, WIDTH).to("cuda")))
        with self.assertRaisesRegex(symprof.Error, r"a thread that the program started \(test_process.py:\d+\)"), symprof.simulate():
            thread.start()
            batches.get()
        self.assertEqual(state_of_torch(), before)

    def test_a_pool_gives_its_error_to_the_program(self):
        with self.assertRaisesRegex(symprof.Error, "a thread that the program started"), symprof.simulate(), ThreadPoolExecutor(1) as pool:
            weight = nn.Parameter(torch.randn(WIDTH, WIDTH, device="cuda"))
            pool.submit(lambda: (weight @ weight).sum()).result()

    def test_other_errors_of_threads_end_no_program(self):
        seen = []
        with symprof.simulate() as run:
            before, threading.excepthook = threading.excepthook, lambda args: seen.append(args.exc_type)
            try:
                thread = threading.Thread(target=lambda: 1 // 0)
                thread.start()
                thread.join()
            finally:
                threading.excepthook = before
            torch.ones(2, device="cuda") + 1
        self.assertEqual(seen, [ZeroDivisionError])
        self.assertEqual(len(run.profile.calls), 2)


class Interrupts(unittest.TestCase):
    def interrupted_at(self, line, work):
        """Ctrl-C when so many lines of the package have run; whether `work` came so far."""
        lines = 0

        def trace(frame, event, argument):
            nonlocal lines
            file = frame.f_code.co_filename
            if not file.startswith(PACKAGE) or file.endswith("_interrupts.py"):
                return None
            # Python itself has no way to enter a context that an interrupt cannot come before (bugs.python.org/issue29988).
            if event == "line" and "uninterrupted()" not in linecache.getline(file, frame.f_lineno):
                lines += 1
                if lines == line:
                    signal.raise_signal(signal.SIGINT)
            return trace

        sys.settrace(trace)
        try:
            work()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        self.assertLess(lines, line)
        return False

    def check(self, work, points):
        work()
        before = state_of_torch()
        line, came = 1, 0
        while self.interrupted_at(line, work):
            self.assertEqual(state_of_torch(), before, f"interrupted at line {line}")
            with self.assertRaises((RuntimeError, AssertionError, NotImplementedError)):
                torch.empty(2, device="cuda")  # No device stays behind.
            came += 1
            line += max(1, line // points)
        self.assertGreater(came, points)
        work()

    def test_a_module_is_what_it_was(self):
        model = feedforward()
        weights = dict(model.named_parameters())
        x = torch.randn(BATCH, WIDTH)
        self.check(lambda: symprof.profile(model, x, optimizer="adamw"), 4)
        for name, weight in model.named_parameters():
            self.assertIs(weight, weights[name])

    def test_in_a_block_of_a_program(self):
        before = state_of_torch()
        with self.assertRaises(KeyboardInterrupt), symprof.simulate() as run:
            layer = nn.Linear(WIDTH, WIDTH).cuda()
            layer(torch.randn(BATCH, WIDTH).cuda()).register_hook(lambda gradient: signal.raise_signal(signal.SIGINT))
            layer.weight.register_hook(lambda gradient: signal.raise_signal(signal.SIGINT))
            layer(torch.randn(BATCH, WIDTH).cuda()).sum().backward()
        self.assertEqual(state_of_torch(), before)
        with self.assertRaisesRegex(symprof.Error, "has no profile"):
            run.profile

    def test_what_a_program_raises_comes_out(self):
        before = state_of_torch()
        with self.assertRaisesRegex(ZeroDivisionError, "division"), symprof.simulate():
            torch.ones(2, device="cuda") * (1 // 0)
        self.assertEqual(state_of_torch(), before)


class Leaks(unittest.TestCase):
    def test_two_hundred_profiles_leave_nothing(self):
        model, x = feedforward(), torch.randn(BATCH, WIDTH)

        def profiles(count):
            for _ in range(count):
                str(symprof.profile(model, x, optimizer="adamw"))
            gc.collect()
            pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
            return len(gc.get_objects()), pages * 4096

        profiles(100)
        objects, resident = profiles(1)
        objects_after, resident_after = profiles(100)
        self.assertLess(objects_after - objects, 100)  # Less than one for each.
        # A profile's JSON alone takes more than a tenth of what is allowed for each.
        self.assertLess(resident_after - resident, 100 * (100 << 10))


class Kept(unittest.TestCase):
    """Tensors of a simulation that has ended, in the next one."""

    def step(self, run, model, optimizer):
        with run:
            x = torch.randn(BATCH, WIDTH, device="cuda")
            for _ in range(2):
                model(x).square().mean().backward()
                optimizer.step()
                optimizer.zero_grad()
        return run.profile

    def test_a_model_is_trained_on(self):
        first = symprof.simulate()
        with first:
            model = feedforward().cuda()
            optimizer = torch.optim.AdamW(model.parameters())
            x = torch.randn(BATCH, WIDTH, device="cuda")
            model(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        second = self.step(symprof.simulate(), model, optimizer)
        third = self.step(symprof.simulate(), model, optimizer)
        parameters = FLOAT * sum(parameter.numel() for parameter in model.parameters())
        self.assertEqual(second.totals["param_bytes"], parameters)
        self.assertEqual(second.totals["grad_bytes"], parameters)
        self.assertEqual(second.totals["optimizer_bytes"], 2 * parameters)  # The numbers of steps are on the host.
        self.assertEqual(rows_of(second), rows_of(third))
        self.assertEqual(second.totals, third.totals)

    def test_moves_and_values_that_are_known(self):
        with symprof.simulate():
            x, lengths = torch.randn(BATCH, WIDTH, device="cuda"), torch.tensor([3, 4], device="cuda")
        with symprof.simulate() as run:
            self.assertEqual(lengths.tolist(), [3, 4])
            self.assertEqual((x.cpu() + 1).shape, (BATCH, WIDTH))
            self.assertEqual((x + x.to("cuda", torch.half)).sum().dim(), 0)
        self.assertIn("aten::add", [node["op"] for node in run.profile.nodes])


class OtherModes(unittest.TestCase):
    def test_a_counter_around_it_changes_nothing(self):
        alone = rows_of(symprof.profile(feedforward(), torch.randn(BATCH, WIDTH)))
        with FlopCounterMode(display=False) as counter:
            feedforward()(torch.randn(BATCH, WIDTH))
            within = rows_of(symprof.profile(feedforward(), torch.randn(BATCH, WIDTH)))
            feedforward()(torch.randn(BATCH, WIDTH))
        self.assertEqual(within, alone)
        self.assertGreaterEqual(counter.get_total_flops(), 2 * PRODUCTS)

    def test_a_mode_of_the_program_sees_its_calls(self):
        class Names(TorchDispatchMode):
            def __init__(self):
                super().__init__()
                self.names = []

            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                self.names.append(function.__name__)
                return function(*args, **(kwargs or {}))

        with symprof.simulate() as run, Names() as seen:
            model = feedforward().cuda()
            model(torch.randn(BATCH, WIDTH).cuda()).sum().backward()
            run.end_step()
        self.assertEqual(run.profile.totals["fwd_flops"], PRODUCTS)
        self.assertIn("addmm.default", seen.names)

    def test_the_default_device_of_a_program(self):
        with torch.device("meta"):
            profile = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH))
        self.assertEqual(profile.totals["fwd_flops"], PRODUCTS)


class Training(unittest.TestCase):
    def train(self, between):
        torch.manual_seed(7)
        model = nn.Sequential(feedforward(), nn.Dropout(0.5), nn.BatchNorm1d(WIDTH))
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(BATCH, WIDTH)).square().sum().backward()
            between(model, optimizer)
            optimizer.step()
        return [*model.state_dict().values(), torch.get_rng_state()]

    def test_real_training_goes_on_to_the_bit(self):
        def profile(model, optimizer):
            symprof.profile(model, torch.ones(BATCH, WIDTH), optimizer=optimizer)
            with symprof.simulate():
                nn.Dropout()(torch.randn(BATCH, device="cuda")).sum().item()

        for with_profiles, without in zip(self.train(profile), self.train(lambda *unused: None), strict=True):
            self.assertTrue(torch.equal(with_profiles, without))


if __name__ == "__main__":
    unittest.main()
