"""What a program reads from tensors, and where its tensors lie."""
import tempfile
import unittest

import symprof  # Before torch.

import torch
from torch import nn

ROWS, WIDTH = 6, 32
FLOAT = 4  # bytes


class KeepsRows(nn.Module):
    """Sizes depend on the values of `mask`."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, mask):
        return self.up(x[mask])


class BranchesOnMask(KeepsRows):
    def forward(self, x, mask):
        return self.up(x) if mask.all() else self.up(self.up(x))


class HoldsItsLayersInAClosure(nn.Module):
    def __init__(self):
        super().__init__()
        layer = self.layer = nn.Linear(WIDTH, WIDTH)
        self.function = lambda x: layer(x)

    def forward(self, x):
        return self.function(x)


PRODUCT_OF_A_ROW = 2 * WIDTH * WIDTH
MASK = torch.tensor([True, False, True, True, False, False])


class Values(unittest.TestCase):
    def test_masks_that_come_from_the_host_decide_sizes(self):
        totals = symprof.profile(KeepsRows(), torch.randn(ROWS, WIDTH), MASK).totals
        self.assertEqual(totals["fwd_flops"], int(MASK.sum()) * PRODUCT_OF_A_ROW)

    def test_masks_without_values_keep_all_rows(self):
        totals = symprof.profile(KeepsRows(), torch.randn(ROWS, WIDTH), MASK.to("meta")).totals
        self.assertEqual(totals["fwd_flops"], ROWS * PRODUCT_OF_A_ROW)

    def test_branches_take_the_way_of_their_values_and_say_nothing(self):
        profile = symprof.profile(BranchesOnMask(), torch.randn(ROWS, WIDTH), MASK)
        self.assertEqual(profile.totals["fwd_flops"], 2 * ROWS * PRODUCT_OF_A_ROW)
        self.assertEqual(profile.warnings, [])

    def test_truncated_normal_numbers_are_drawn_once(self):
        """PyTorch draws again while a number lies beyond a bound, a hundred standard deviations away by default."""
        with symprof.simulate() as run:
            weight = torch.empty(WIDTH, WIDTH, device="cuda")
            nn.init.trunc_normal_(weight, std=0.02)
            (weight @ weight).sum()
        self.assertEqual(run.profile.totals["fwd_flops"], WIDTH * PRODUCT_OF_A_ROW)
        self.assertEqual(run.profile.warnings, [])

    def test_a_loop_on_a_value_that_nobody_knows_ends(self):
        passes = 0
        with symprof.simulate() as run:
            x = torch.randn(WIDTH, device="cuda")
            while (x > 0).all():
                x, passes = x + 1, passes + 1
        self.assertEqual(passes, 16)
        self.assertEqual([", and 0 after every 16th, to end a loop" in warning for warning in run.profile.warnings], [True])

    def test_a_number_that_nobody_knows_is_said(self):
        profile = symprof.profile(BranchesOnMask(), torch.randn(ROWS, WIDTH), MASK.to("meta"))
        self.assertEqual(profile.totals["fwd_flops"], ROWS * PRODUCT_OF_A_ROW)
        line = BranchesOnMask.forward.__code__.co_firstlineno + 1
        self.assertRegex(profile.warnings[0], rf"test_values\.py:{line}: read unknown values of tensors 2 times and got 1 \(true\)")

    def test_ranges_made_on_the_device_are_known(self):
        with symprof.simulate():
            places = torch.arange(ROWS, device="cuda")
            self.assertEqual(int((places > 2).sum()), ROWS - 3)
            self.assertEqual(places[places > 2].shape[0], ROWS - 3)

    def test_large_data_of_the_host_are_not_computed_with(self):
        with symprof.simulate():
            images = torch.rand(2**14 + 1)
            self.assertNotEqual(images.cuda().sum().item(), images.sum().item())


class OnTheHost(unittest.TestCase):
    def test_a_copy_can_be_read_and_says_so(self):
        with symprof.simulate() as run:
            loss = torch.randn(2, 3, device="cuda")
            copy = loss.cpu()
            self.assertEqual(copy.tolist(), [[1.0] * 3] * 2)
            self.assertEqual(int(copy.sum()), 6)  # A real tensor from here on.
        self.assertRegex(run.profile.warnings[0], r"test_values\.py:\d+: read unknown values of tensors 1 time and got ")

    def test_a_copy_has_the_values_that_are_known(self):
        with symprof.simulate() as run:
            self.assertEqual(torch.arange(4, device="cuda").cpu().tolist(), [0, 1, 2, 3])
        self.assertEqual(run.profile.warnings, [])

    def test_large_copies_take_no_memory(self):
        with symprof.simulate():
            copy = torch.randn(2**40, device="cuda").cpu()  # 4 TiB.
        self.assertEqual((copy.shape, copy.untyped_storage().nbytes()), ((2**40,), FLOAT))

    def test_what_is_written_to_the_host_is_what_a_copy_has(self):
        with symprof.simulate() as run:
            known, unknown = torch.arange(4, device="cuda"), torch.randn(3, device="cuda")
            kept, filled, parts = torch.full((4,), 9), torch.full((3,), 9.0), torch.full((3,), 9.0)
            kept.copy_(known)
            filled.copy_(unknown)
            parts[1] = unknown[0]
            torch._foreach_copy_([first := torch.zeros(4), second := torch.zeros(3)], [known.float(), unknown])
            self.assertEqual(kept.tolist(), [0, 1, 2, 3])
            self.assertEqual((filled.tolist(), parts.tolist()), ([1.0] * 3, [9.0, 1.0, 9.0]))
            self.assertEqual((first.tolist(), second.tolist()), ([0, 1, 2, 3], [1.0] * 3))
        self.assertEqual(len(run.profile.warnings), 3)  # filled, parts, second; what is known needs no word.

    def test_a_large_tensor_on_the_host_keeps_its_numbers_and_it_is_said(self):
        with symprof.simulate() as run:
            large = torch.zeros(2**20 + 1)
            large.copy_(torch.randn(2**20 + 1, device="cuda"))
            self.assertEqual(large.count_nonzero(), 0)
        self.assertRegex(run.profile.warnings[0], r"test_values\.py:\d+: wrote .* large tensor on the host 1 time; it keeps what it had")

    def test_backward_passes_through_the_host(self):
        with symprof.simulate():
            x = torch.randn(3, device="cuda", requires_grad=True)
            (2 * x).cpu().sum().backward()
            self.assertEqual((x.grad.device.type, x.grad.shape), ("cuda", (3,)))


class Places(unittest.TestCase):
    def test_operands_in_host_memory_are_refused_as_on_a_gpu(self):
        with symprof.simulate():
            x, weight = torch.randn(ROWS, WIDTH).cuda(), torch.randn(WIDTH, WIDTH)
            with self.assertRaisesRegex(RuntimeError, "Expected all tensors on the same device"):
                x @ weight
            self.assertEqual((x * torch.tensor(2.0)).device.type, "cuda")  # A single number may lie anywhere.
            self.assertEqual(x[torch.tensor([0, 1])].shape, (2, WIDTH))  # So may indices.

    def test_layers_in_closures_come_to_the_device(self):
        model = HoldsItsLayersInAClosure()
        totals = symprof.profile(model, torch.randn(ROWS, WIDTH)).totals
        self.assertEqual(totals["bwd_flops"], ROWS * PRODUCT_OF_A_ROW)
        self.assertEqual(totals["param_bytes"], FLOAT * (WIDTH + 1) * WIDTH)
        self.assertEqual(model.layer.weight.device.type, "cpu")

    def test_a_model_that_remembers_stays_as_it_was(self):
        class Remembers(KeepsRows):
            seen = None

            def forward(self, x):
                self.seen = x
                return self.up(x)

        model = Remembers().eval()
        symprof.profile(model, torch.randn(ROWS, WIDTH))
        self.assertIsNone(model.seen)
        self.assertFalse(model.training)

    def test_new_tensors_lie_beside_the_old_one(self):
        with symprof.simulate():
            x = torch.zeros(2, device="cuda")
            for made in (x.new_tensor([1, 2, 3]), x.new([1, 2, 3]), x.new(3)):
                self.assertEqual((made.shape, made.device.type, made.dtype), ((3,), "cuda", torch.float32))
            self.assertEqual(torch.zeros(2).new_tensor([1.5]).tolist(), [1.5])

    def test_a_checkpoint_is_loaded_to_the_device(self):
        """Its tensors take memory there until they are gone."""
        with tempfile.TemporaryDirectory() as folder:
            torch.save(nn.Linear(WIDTH, WIDTH, bias=False).state_dict(), f"{folder}/states.pt")
            for place in ("cuda", torch.device("cuda", 0), lambda storage, location: storage.cuda()):
                with symprof.simulate():
                    states = torch.load(f"{folder}/states.pt", map_location=place)
                    self.assertEqual((states["weight"].device.type, torch.cuda.memory_allocated()), ("cuda", FLOAT * WIDTH**2))
                    model = nn.Linear(WIDTH, WIDTH, bias=False)
                    model.load_state_dict(states)
                    del states
                    self.assertEqual(torch.cuda.memory_allocated(), 0)
        self.assertNotIn("__new__", vars(torch.UntypedStorage))

    def test_a_checkpoint_of_the_run_itself(self):
        """It comes back to where map_location says; without one to the device."""
        with tempfile.TemporaryDirectory() as folder, symprof.simulate():
            model = nn.Linear(WIDTH, WIDTH).cuda()
            torch.save({"model": model.state_dict(), "best": (model.weight, 3)}, f"{folder}/best.pt")
            for place, wanted in (("cpu", "cpu"), ("cuda", "cuda"), (None, "cuda")):
                found = torch.load(f"{folder}/best.pt", map_location=place)
                self.assertEqual((found["best"][0].device.type, found["best"][0].shape, found["best"][1]), (wanted, (WIDTH, WIDTH), 3))
                model.load_state_dict(found["model"])

    def test_memory_that_loaders_share_stays_shared(self):
        """As torch.utils.data's default_collate has it in a worker."""
        with symprof.simulate():
            rows = torch.ones(ROWS, WIDTH)
            shared = rows.new(rows._typed_storage()._new_shared(2 * ROWS * WIDTH, device="cpu"))
            self.assertTrue(torch.stack([rows, rows], out=shared.resize_(2, ROWS, WIDTH)).is_shared())


if __name__ == "__main__":
    unittest.main()
