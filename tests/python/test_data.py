"""`tensor.data = value`, moves to the device and addresses: as PyTorch has them for a GPU."""
import copy
import unittest
import weakref

import symprof  # Before torch.

import torch
from torch import nn

ROWS, WIDTH, FLOAT = 4, 64, 4


class Named(nn.Parameter):
    """A parameter with a class and an attribute of its own."""


def named(**options):
    made = Named(torch.zeros(WIDTH, WIDTH, **options))
    made.name_of_it = "named"
    return made


def train(model, passes=2):
    """The model's gradients reach its parameters, and an update changes them in place."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(passes):
        model(torch.randn(ROWS, WIDTH, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


class Data(unittest.TestCase):
    def test_the_left_side_changes_alone(self):
        with symprof.simulate():
            host, device = torch.zeros(WIDTH), torch.ones(WIDTH, device="cuda")
            host.data = device
            self.assertEqual((host.device.type, device.device.type), ("cuda", "cuda"))
            self.assertEqual(host.untyped_storage()._cdata, device.untyped_storage()._cdata)

    def test_a_subclass_keeps_its_class_and_attributes(self):
        with symprof.simulate():
            parameter, seen = named(), []
            parameter.register_hook(seen.append)
            parameter.data = torch.empty(WIDTH, WIDTH, device="cuda")
            self.assertIs(type(parameter), Named)
            self.assertEqual((parameter.name_of_it, parameter.device.type, parameter.requires_grad), ("named", "cuda", True))
            (parameter * 2).sum().backward()
            self.assertEqual((len(seen), parameter.grad.device.type), (1, "cuda"))
            self.assertEqual(copy.deepcopy(parameter).device.type, "cuda")

    def test_a_batch_from_the_host_comes_over_the_link(self):
        model = nn.Linear(WIDTH, WIDTH, bias=False)
        with symprof.simulate() as run:
            model.to("cuda")(torch.zeros(ROWS, WIDTH).to("cuda")).sum().backward()
        self.assertEqual(run.profile.totals["transfer_bytes"], FLOAT * WIDTH * (WIDTH + ROWS))

    def test_two_parameters_share_what_they_are_given(self):
        with symprof.simulate() as run:
            model = nn.Sequential(nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False))
            weight = torch.empty(WIDTH, WIDTH, device="cuda")
            model[0].weight.data = weight
            model[1].weight.data = weight
            train(model)
        self.assertEqual(run.profile.totals["param_bytes"], FLOAT * WIDTH * WIDTH)

    def test_weights_are_let_go_and_gathered_again(self):
        """As DeepSpeed partitions parameters."""
        with symprof.simulate():
            layer, identity = nn.Linear(WIDTH, WIDTH, bias=False).cuda(), None
            identity, sizes = id(layer.weight), []
            for _ in range(2):
                layer.weight.data = torch.empty(0, device="cuda")
                sizes.append(torch.cuda.memory_allocated())
                layer.weight.data = torch.empty(WIDTH, WIDTH, device="cuda")
                sizes.append(torch.cuda.memory_allocated())
            self.assertEqual((id(layer.weight), layer.weight.shape), (identity, (WIDTH, WIDTH)))
            self.assertEqual(sizes, 2 * [0, FLOAT * WIDTH * WIDTH])

    def test_a_weight_saved_for_backward_is_let_go(self):
        """Autograd holds a leaf itself (torch/csrc/autograd/saved_variable.cpp), not the storage that it had."""
        with symprof.simulate():
            weight = nn.Parameter(torch.randn(WIDTH, WIDTH, device="cuda"))
            x = torch.randn(WIDTH, WIDTH, device="cuda", requires_grad=True)
            product = x @ weight
            held = torch.cuda.memory_allocated()
            weight.data = torch.empty(0, device="cuda")
            self.assertEqual(held - torch.cuda.memory_allocated(), FLOAT * WIDTH * WIDTH)
            weight.data = torch.randn(WIDTH, WIDTH, device="cuda")
            product.sum().backward()
            self.assertEqual(x.grad.shape, x.shape)

    def test_weights_go_to_the_host_and_come_back(self):
        with symprof.simulate():
            layer = nn.Linear(WIDTH, WIDTH, bias=False)
            numbers, weight = layer.weight.detach().clone(), layer.weight
            layer.weight.data = numbers.cuda()
            layer.weight.data = numbers.clone()
            self.assertIs(layer.weight, weight)
            self.assertTrue(torch.equal(layer.weight, numbers))
            self.assertEqual(torch.cuda.memory_allocated(), 0)

    def test_a_model_that_is_gone_holds_nothing(self):
        sizes = []
        with symprof.simulate() as run:
            x = torch.ones(1, WIDTH, device="cuda")
            for _ in range(3):
                layer = nn.Linear(WIDTH, WIDTH, bias=False, device="cuda")
                optimizer = torch.optim.SGD(layer.parameters())
                layer(x).sum().backward()
                optimizer.step()
                del layer, optimizer
                sizes.append(torch.cuda.memory_allocated())
        self.assertEqual(sizes, sizes[:1] * 3)
        self.assertEqual(run.profile.totals["param_bytes"], FLOAT * WIDTH * WIDTH)

    def test_another_dtype_takes_the_place_of_the_first(self):
        with symprof.simulate() as run:
            layer = nn.Linear(WIDTH, WIDTH, bias=False)
            layer.weight.data = layer.weight.data.cuda()
            layer.weight.data = layer.weight.data.to(torch.bfloat16)
            layer(torch.randn(ROWS, WIDTH, device="cuda", dtype=torch.bfloat16)).sum().backward()
            self.assertEqual(layer.weight.grad.dtype, torch.bfloat16)
            run.end_step()
        self.assertEqual(run.profile.totals["param_bytes"], 2 * WIDTH * WIDTH)


class Moves(unittest.TestCase):
    def test_weak_references_and_gradient_accumulators_survive(self):
        """On a device `Module.to` gives parameters other data, and every reference to them holds."""
        with symprof.simulate() as run:
            model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH))
            registry = weakref.WeakValueDictionary(model.named_parameters())
            calls = []
            model[0].weight.register_post_accumulate_grad_hook(lambda parameter: calls.append(parameter.grad.device.type))
            model(torch.randn(2, WIDTH)).sum().backward()
            model.to("cuda")
            self.assertIs(registry["0.weight"], model[0].weight)
            self.assertEqual({p.grad.device.type for p in model.parameters()}, {"cuda"})
            train(model)
        self.assertEqual(calls, ["cpu", "cuda", "cuda"])
        self.assertEqual(run.profile.totals["fwd_flops"], 2 * 2 * ROWS * WIDTH * WIDTH)
        self.assertEqual(run.profile.totals["grad_bytes"], 2 * FLOAT * (WIDTH * WIDTH + WIDTH))

    def test_an_optimizer_that_was_made_before_updates_the_moved_parameters(self):
        with symprof.simulate() as run:
            model = nn.Linear(WIDTH, WIDTH, bias=False)
            optimizer = torch.optim.Adam(model.parameters())
            model.cuda()
            model(torch.randn(ROWS, WIDTH, device="cuda")).sum().backward()
            optimizer.step()
        self.assertEqual(run.profile.totals["optimizer_bytes"], 2 * FLOAT * WIDTH * WIDTH)

    def test_tied_weights_stay_one(self):
        with symprof.simulate() as run:
            model = nn.Sequential(nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False))
            model[1].weight = model[0].weight
            model.cuda()
            self.assertIs(model[0].weight, model[1].weight)
            train(model)
        self.assertEqual(run.profile.totals["param_bytes"], FLOAT * WIDTH * WIDTH)
        self.assertEqual(run.profile.totals["param_count"], WIDTH * WIDTH)

    def test_the_program_may_swap_tensors_itself(self):
        with symprof.simulate():
            host, device = nn.Parameter(torch.zeros(WIDTH)), nn.Parameter(torch.zeros(WIDTH, device="cuda"))
            torch.utils.swap_tensors(host, device)
            self.assertEqual((host.device.type, device.device.type), ("cuda", "cpu"))

    def test_a_moved_model_is_copied(self):
        with symprof.simulate():
            model = nn.Linear(WIDTH, WIDTH, bias=False).cuda()
            copied = copy.deepcopy(model)
            self.assertEqual(torch.cuda.memory_allocated(), 2 * FLOAT * WIDTH * WIDTH)
            self.assertNotEqual(copied.weight.data_ptr(), model.weight.data_ptr())
            train(copied)


class Addresses(unittest.TestCase):
    def test_each_block_has_its_own(self):
        with symprof.simulate():
            first, second = torch.empty(WIDTH, device="cuda"), torch.empty(WIDTH, device="cuda")
            self.assertGreaterEqual(abs(first.data_ptr() - second.data_ptr()), FLOAT * WIDTH)
            self.assertEqual(first[3:].data_ptr(), first.data_ptr() + 3 * FLOAT)
            self.assertEqual(first.untyped_storage().data_ptr(), first.view(8, 8).data_ptr())
            self.assertEqual(first.data_ptr() % 512, 0)

    def test_what_holds_nothing_has_none(self):
        with symprof.simulate():
            self.assertEqual(torch.empty(0, device="cuda").data_ptr(), 0)

    def test_no_process_has_memory_there(self):
        with symprof.simulate():
            address = torch.empty(WIDTH, device="cuda").data_ptr()
        with open("/proc/self/maps") as maps:
            ends = [int(line.split()[0].partition("-")[2], 16) for line in maps if "vsyscall" not in line]
        self.assertGreater(address, max(ends))


if __name__ == "__main__":
    unittest.main()
