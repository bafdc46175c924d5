"""torch.func, and autograd as Python sees it: what PyTorch runs on the CPU is what is counted."""
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import symprof  # Before torch.

import torch
import torch.autograd.forward_ad as forward_ad
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp, vmap
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts, set_checkpoint_early_stop
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

BATCH, WIDTH = 4, 16


def model():
    return nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.Tanh(), nn.Linear(2 * WIDTH, WIDTH))


class Products(TorchDispatchMode):
    """FlopCounterMode without its hooks of modules, which torch.func refuses."""

    total = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func._overloadpacket in flop_registry:
            self.total += flop_registry[func._overloadpacket](*args, **(kwargs or {}), out_val=out)
        return out


def products_of(function):
    """Of `function(device)`, on the CPU and in a simulation."""
    with Products() as counter:
        function("cpu")
    with symprof.simulate() as run:
        function("cuda")
    totals = run.profile.totals
    return counter.total, totals["fwd_flops"] + totals["bwd_flops"]


def transformed(transform):
    """Of a model's output, or its sum, at a random place."""

    def run(device):
        net, x = model().to(device), torch.randn(2, WIDTH, device=device)  # PyTorch's formulas have no products with vectors.
        return transform(net, x)

    return run


class Functions(unittest.TestCase):
    def check(self, function):
        expected, found = products_of(function)
        self.assertGreater(expected, 0)
        self.assertEqual(found, expected)

    def test_transforms_make_the_calls_that_they_make_on_the_cpu(self):
        transforms = {
            "grad": lambda net, x: grad(lambda x: net(x).sum())(x),
            "vmap": lambda net, x: vmap(net)(x.expand(BATCH, 2, WIDTH)),
            "vjp": lambda net, x: vjp(net, x)[1](x),
            "jvp": lambda net, x: jvp(net, (x,), (x,)),
            "jacrev": lambda net, x: jacrev(net)(x),
            "jacfwd": lambda net, x: jacfwd(net)(x),
            "hessian": lambda net, x: hessian(lambda x: net(x).sum())(x),
            "vmap of grad": lambda net, x: vmap(grad(lambda x: net(x).sum()))(x.expand(BATCH, 2, WIDTH)),
        }
        for name, transform in transforms.items():
            with self.subTest(name):
                self.check(transformed(transform))

    def test_gradients_of_each_sample(self):
        def run(device):
            net = model().to(device)
            parameters = {name: value.detach() for name, value in net.named_parameters()}
            one = lambda parameters, x: functional_call(net, parameters, (x[None],)).square().sum()
            found = vmap(grad(one), in_dims=(None, 0))(parameters, torch.randn(BATCH, WIDTH, device=device))
            self.assertEqual({name: value.shape[1:] for name, value in found.items()},
                             {name: value.shape for name, value in parameters.items()})

        self.check(run)

    def test_an_ensemble_is_one_call(self):
        def run(device):
            nets = [model().to(device) for _ in range(3)]
            state = stack_module_state(nets)
            vmap(lambda state, x: functional_call(nets[0], state, (x,)), (0, None))(state, torch.randn(BATCH, WIDTH, device=device))

        self.check(run)

    def test_forward_mode(self):
        def run(device):
            net, x = model().to(device), torch.randn(BATCH, WIDTH, device=device)
            with forward_ad.dual_level():
                self.assertEqual(forward_ad.unpack_dual(net(forward_ad.make_dual(x, x))).tangent.shape, (BATCH, WIDTH))

        self.check(run)

    def test_a_zero_that_is_no_tensor_takes_no_memory(self):
        with symprof.simulate() as run:  # A tangent that is zero, in forward mode.
            zero = torch._efficientzerotensor(WIDTH, device="cuda")
            self.assertTrue(zero._is_zerotensor())
            torch.ones(WIDTH, device="cuda") + zero
        # The sum is a copy (add_zerotensor in ATen/native/BinaryOps.cpp); the zero is made a tensor to be asked for its shape.
        ops = ["_efficientzerotensor", "ones", "zeros", "expand", "expand", "_to_copy"]
        self.assertEqual([call["op"] for call in run.profile.calls], [f"aten::{op}" for op in ops])
        self.assertEqual(run.profile.calls[0]["bytes_written"], 0)

    def test_what_transforms_save(self):
        with symprof.simulate() as run:
            net, x = model().cuda(), torch.randn(BATCH, WIDTH, device="cuda")
            with torch.no_grad():  # Outside of the transform.
                grad(lambda x: net(x).sum())(x)
        self.assertEqual(run.profile.totals["saved_bytes_with_inputs"], 2 * 4 * BATCH * 2 * WIDTH)
        # tanh's result; and as grad() makes a graph of its backward pass, the gradient that tanh's backward reads.

    def test_hooks_of_the_program_are_refused_as_torch_does(self):
        def checkpointed(device):
            net, x = model().to(device), torch.randn(BATCH, WIDTH, device=device)
            with self.assertRaisesRegex(RuntimeError, "don't yet support saved tensor hooks"):
                grad(lambda x: checkpoint(net, x, use_reentrant=False).sum())(x)
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                with self.assertRaisesRegex(RuntimeError, "don't yet support saved tensor hooks"):
                    grad(lambda x: net(x).sum())(x)

        checkpointed("cpu")
        with symprof.simulate():
            checkpointed("cuda")

    def test_jacobians_of_torch_autograd(self):
        self.check(transformed(lambda net, x: torch.autograd.functional.hessian(lambda x: net(x).sum(), x)))


class Nodes(unittest.TestCase):
    def test_metadata_is_a_dictionary_of_the_program(self):
        with symprof.simulate():
            made = model().cuda()(torch.randn(BATCH, WIDTH, device="cuda")).grad_fn
            made.metadata["mine"] = 1
            self.assertEqual(made.metadata, {"mine": 1})
        after = torch.ones(2, requires_grad=True).sum().grad_fn  # The engine is Python's behind a simulation, too.
        self.assertEqual(after.metadata, {})

    def test_hooks_of_nodes(self):
        seen = []
        with symprof.simulate():
            made = model().cuda()(torch.randn(BATCH, WIDTH, device="cuda")).sum()
            made.grad_fn.register_prehook(lambda gradients: seen.append(len(gradients)))
            made.grad_fn.register_hook(lambda inputs, outputs: seen.append(len(inputs) + len(outputs)))
            made.backward()
        self.assertEqual(seen, [1, 2])

    def test_anomaly_mode_finds_nothing_and_keeps_its_traces(self):
        with symprof.simulate(), torch.autograd.detect_anomaly():
            made = model().cuda()(torch.randn(BATCH, WIDTH, device="cuda")).square().mean()
            self.assertIn("test_anomaly_mode", "".join(made.grad_fn.metadata["traceback_"]))
            made.backward()

    def test_an_error_in_backward_is_the_program_s(self):
        class Fails(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, gradient):
                raise ValueError("no gradient here")

        with symprof.simulate(), self.assertRaisesRegex(ValueError, "no gradient here"):
            Fails.apply(torch.randn(WIDTH, device="cuda", requires_grad=True)).sum().backward()

    def test_saved_tensor_hooks_of_the_program_are_asked(self):
        packed = []
        with symprof.simulate():
            net, x = nn.Linear(WIDTH, WIDTH).cuda(), torch.randn(BATCH, WIDTH, device="cuda")
            with torch.autograd.graph.saved_tensors_hooks(lambda tensor: packed.append(tensor.shape), lambda _: x):
                net(x).sum().backward()
        self.assertEqual(packed, [(BATCH, WIDTH)])


class Checkpoints(unittest.TestCase):
    def products(self, **options):
        keeps = options.pop("keeps", None)
        with symprof.simulate() as run:
            net = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH)).cuda()
            x = torch.randn(BATCH, WIDTH, device="cuda", requires_grad=True)
            if keeps is not None:
                policy = lambda context, op, *args, **kwargs: (
                    CheckpointPolicy.MUST_SAVE if op is keeps else CheckpointPolicy.PREFER_RECOMPUTE)
                options["context_fn"] = lambda: create_selective_checkpoint_contexts(policy)
            checkpoint(net, x, **options).sum().backward()
        return run.profile.totals["recompute_flops"] // (2 * BATCH * WIDTH * WIDTH)

    def test_what_runs_again(self):
        self.assertEqual(self.products(use_reentrant=True), 2)
        self.assertEqual(self.products(use_reentrant=False), 1)  # The last product's output is not saved: it stops before.
        self.assertEqual(self.products(use_reentrant=False, keeps=torch.ops.aten.addmm.default), 0)
        with set_checkpoint_early_stop(False):
            self.assertEqual(self.products(use_reentrant=False), 2)


class Processes(unittest.TestCase):
    def test_a_script_that_keeps_transformed_tensors_ends_well(self):
        script = textwrap.dedent("""
            import torch
            from torch.func import grad, vmap
            weight = torch.randn(8, 8, device="cuda", requires_grad=True)
            kept = grad(lambda x: (weight @ x).sum())(torch.randn(8, device="cuda", requires_grad=True))
            mapped = vmap(lambda x: (weight @ x).sum())(torch.randn(4, 8, device="cuda"))
        """)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(script)
            for arguments in ([], ["--format", "json"]):
                command = [sys.executable, "-m", "symprof", "run", *arguments, str(path)]
                done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
