"""Beside a CUDA build of torch: what is simulated stays away from the real device, and what is real is as it was.

truth/launches/beside_cuda.py runs this on a GPU that computes nothing, and where there is none."""
import pathlib
import threading
import unittest

import symprof  # Before torch.

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.data import DataLoader, TensorDataset

MLP = pathlib.Path(__file__).resolve().parent.parent.parent / "models/tiny/mlp.pt2"
BATCH, WIDTH, HIDDEN = 4, 64, 256


def feedforward():
    return nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH))


def state():
    """What is there of CUDA."""
    return torch.cuda.is_available(), torch.cuda.is_initialized(), torch.version.cuda, torch.cuda.Stream


def train(model, inputs, steps=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        model(inputs).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


@unittest.skipUnless(torch.backends.cuda.is_built(), "torch is no CUDA build")
class Simulated(unittest.TestCase):
    """The same with a GPU and without one."""

    def setUp(self):
        self.before = state()

    def tearDown(self):
        self.assertEqual(state(), self.before)

    def test_a_module(self):
        profile = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH), optimizer="adamw", device="t4")
        self.assertEqual(profile.totals["fwd_flops"], 2 * 2 * BATCH * WIDTH * HIDDEN)

    def test_a_file(self):
        self.assertGreater(symprof.profile(MLP, optimizer="adamw").totals["bwd_flops"], 0)

    def test_a_program_sees_the_simulated_device(self):
        with symprof.simulate(device="h200"):
            self.assertTrue(torch.cuda.is_available())
            self.assertIn("H200", torch.cuda.get_device_name())
            numbers = torch.tensor([[1.0] * WIDTH] * BATCH, device="cuda")
            self.assertEqual((numbers.device.type, tuple(numbers.shape)), ("cuda", (BATCH, WIDTH)))
            with torch.cuda.stream(torch.cuda.Stream()):
                torch.randn(BATCH, device="cuda", generator=torch.Generator(device="cuda").manual_seed(1))
            train(nn.TransformerEncoderLayer(WIDTH, 4).cuda(), torch.randn(3, BATCH, WIDTH, device="cuda"))
            torch.cuda.synchronize()

    def test_a_fake_mode_of_torch_between_two_simulations(self):
        for _ in range(2):
            with symprof.simulate():
                train(feedforward().cuda(), torch.randn(BATCH, WIDTH, device="cuda"))
                self.assertNotEqual(torch.cuda.Stream(), torch.cuda.current_stream())
            with FakeTensorMode():
                self.assertEqual((torch.empty(BATCH, device="cuda") + 1).device.type, "cuda")

    def test_recurrent_layers(self):
        with symprof.simulate() as run:
            layer = nn.LSTM(WIDTH, WIDTH, 2).cuda()
            inputs = torch.randn(3, BATCH, WIDTH, device="cuda")
            layer(inputs)[0].sum().backward()
            with torch.autocast("cuda", torch.float16):
                self.assertEqual(layer(inputs)[0].dtype, torch.float16)
        self.assertEqual([call["op"] for call in run.profile.calls].count("aten::_cudnn_rnn"), 2)

    def test_a_loader_pins_on_its_own_thread(self):
        data = TensorDataset(torch.arange(4.0 * WIDTH).view(4, WIDTH))
        with symprof.simulate() as run:
            model = nn.Linear(WIDTH, WIDTH).cuda()
            for (batch,) in DataLoader(data, batch_size=2, pin_memory=True):
                self.assertTrue(batch.is_pinned())
                train(model, batch.cuda(non_blocking=True), steps=1)
        self.assertEqual(run.steps, 2)

    def test_ranks(self):
        with symprof.simulate(ranks=4) as run:
            torch.distributed.init_process_group("nccl")
            train(nn.parallel.DistributedDataParallel(feedforward().cuda()), torch.randn(BATCH, WIDTH, device="cuda"))
            torch.distributed.destroy_process_group()
        self.assertEqual(run.steps, 2)


@unittest.skipUnless(torch.cuda.is_available(), "there is no GPU")
class Real(unittest.TestCase):
    def test_memory_is_that_of_the_real_device(self):
        model = feedforward().cuda()
        train(model, torch.randn(BATCH, WIDTH, device="cuda"))
        before = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
        self.assertGreater(before[0], 2 * 4 * WIDTH * HIDDEN)
        with symprof.simulate():
            train(feedforward().cuda(), torch.randn(BATCH, WIDTH, device="cuda"))
        self.assertEqual((torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()), before)
        train(model, torch.randn(BATCH, WIDTH, device="cuda"))

    def test_a_module_on_the_real_device(self):
        model, inputs = feedforward(), torch.randn(BATCH, WIDTH)
        wanted = symprof.profile(model, inputs, optimizer="adamw").totals
        on_device = symprof.profile(model.cuda(), inputs.cuda(), optimizer="adamw").totals
        self.assertEqual(on_device, wanted)
        self.assertTrue(all(parameter.is_cuda for parameter in model.parameters()))

    def test_watch(self):
        model = feedforward().cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        with symprof.watch(model, optimizer) as seen:
            for _ in range(2):
                model(torch.randn(BATCH, WIDTH, device="cuda")).sum().backward()
                optimizer.step()
        self.assertTrue(all(row["peak_allocated_bytes"] > 0 for row in seen.rows))

    def test_real_training_in_another_thread(self):
        model, failed = feedforward().cuda(), []

        def real():
            try:
                train(model, torch.randn(BATCH, WIDTH, device="cuda", requires_grad=True), steps=5)
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=real)
        with symprof.simulate():
            thread.start()
            train(feedforward().cuda(), torch.randn(BATCH, WIDTH, device="cuda"))
            thread.join()
        self.assertEqual(failed, [])


if __name__ == "__main__":
    unittest.main()
