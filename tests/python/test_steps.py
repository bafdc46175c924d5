"""What a training step is: closures, optimizers inside of backward, several optimizers, accumulation, evaluation."""
import unittest

import symprof  # Before torch.

import torch
from torch import nn

BATCH, WIDTH, HIDDEN = 32, 64, 256
PASS = 2 * BATCH * WIDTH * HIDDEN * 2  # FLOPs of both products of mlp(), forward.
BACKWARD = 2 * PASS - 2 * BATCH * WIDTH * HIDDEN  # The first layer's input needs no gradient.
SAVED = 4 * BATCH * HIDDEN  # The hidden layer: ReLU saves its result, which the second product reads.


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH)).cuda()


def batch() -> torch.Tensor:
    return torch.randn(BATCH, WIDTH, device="cuda")


def modules(profile: symprof.Profile) -> set[str]:
    return {node["module"] for node in profile.nodes if node["op"] == "aten::linear"}


class Closures(unittest.TestCase):
    def check(self, optimizer_of):
        with symprof.simulate() as run:
            model, x = mlp(), batch()
            optimizer = optimizer_of(model.parameters())

            def closure():
                optimizer.zero_grad()
                loss = model(x).sum()
                loss.backward()
                return loss

            for _ in range(3):
                optimizer.step(closure)
        totals = run.profile.totals
        self.assertEqual(run.steps, 3)
        self.assertEqual((totals["fwd_flops"], totals["bwd_flops"]), (PASS, BACKWARD))
        self.assertEqual(modules(run.profile), {"0", "2"})
        self.assertEqual(totals["recompute_flops"], 0)

    def test_an_optimizer_calls_forward_and_backward(self):
        self.check(torch.optim.AdamW)

    def test_lbfgs(self):
        self.check(lambda parameters: torch.optim.LBFGS(parameters, max_iter=1))


class Updates(unittest.TestCase):
    def test_optimizers_inside_of_backward(self):
        with symprof.simulate() as run:
            model = mlp()
            optimizers = {p: torch.optim.Adam([p], foreach=False) for p in model.parameters()}

            def update(parameter):
                optimizers[parameter].step()
                optimizers[parameter].zero_grad()

            for parameter in model.parameters():
                parameter.register_post_accumulate_grad_hook(update)
            for _ in range(3):
                model(batch()).sum().backward()
        totals = run.profile.totals
        self.assertEqual(run.steps, 3)
        self.assertEqual((totals["fwd_flops"], totals["bwd_flops"]), (PASS, BACKWARD))
        self.assertGreater(totals["optimizer_flops"], 0)

    def test_two_optimizers_of_one_step(self):
        with symprof.simulate() as run:
            model = mlp()
            first, second = torch.optim.SGD(model[0].parameters()), torch.optim.AdamW(model[2].parameters())
            for _ in range(3):
                model(batch()).sum().backward()
                first.step()
                second.step()
                model.zero_grad()
        self.assertEqual(run.steps, 3)
        self.assertEqual(run.profile.totals["bwd_flops"], BACKWARD)
        labels = [(optimizer["label"], optimizer["name"]) for optimizer in run.profile.data["program"]["optimizers"]]
        self.assertEqual(labels, [("sgd:foreach", "first"), ("adamw:foreach", "second")])

    def test_parameters_that_the_program_updates_itself(self):
        with symprof.simulate() as run:
            model = mlp()
            for _ in range(3):
                model(batch()).sum().backward()
                for parameter in model.parameters():
                    parameter.data.add_(parameter.grad, alpha=-0.1)
                    parameter.grad = None
        self.assertEqual(run.profile.data["program"]["steps"], 2)  # The last one is not known to have ended.
        self.assertEqual((run.profile.totals["fwd_flops"], run.profile.totals["bwd_flops"]), (PASS, BACKWARD))

    def test_what_a_program_writes_before_its_optimizer_updates_is_no_update(self):
        with symprof.simulate() as run:  # Sharpness-aware minimization: up, and down again.
            model, x = mlp(), batch()
            optimizer = torch.optim.SGD(model.parameters())
            for _ in range(2):
                for sign in (1, -1):
                    model(x).sum().backward()
                    with torch.no_grad():
                        for parameter in model.parameters():
                            parameter.add_(parameter.grad, alpha=0.1 * sign)
                optimizer.step()
        self.assertEqual((run.steps, run.profile.totals["fwd_flops"]), (2, 2 * PASS))
        self.assertEqual(run.profile.data["program"]["other_steps"], [])

    def test_alternating_optimizers_are_two_kinds_of_steps(self):
        with symprof.simulate() as run:
            generator, critic = mlp(), nn.Linear(WIDTH, 1).cuda()
            of_generator, of_critic = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())
            for _ in range(2):
                critic(generator(batch()).detach()).mean().backward()
                of_critic.step()
                critic(generator(batch())).mean().backward()
                of_generator.step()
        program = run.profile.data["program"]
        self.assertEqual((program["steps"], program["optimizers"][0]["name"]), (4, "of_generator"))
        other, = program["other_steps"]
        self.assertEqual((other["step"], other["optimizers"][0]["name"]), (3, "of_critic"))
        self.assertEqual(other["fwd_flops"], PASS + 2 * BATCH * WIDTH)
        self.assertEqual(modules(run.profile), {"generator.0", "generator.2", "critic"})

    def test_a_mark_ends_a_step(self):
        with symprof.simulate() as run:
            model = mlp()
            optimizer = torch.optim.SGD(model.parameters())
            for _ in range(2):
                for _ in range(3):
                    model(batch()).sum().backward()
                    optimizer.step()
                symprof.step()
        self.assertEqual(run.steps, 2)
        self.assertEqual(run.profile.totals["fwd_flops"], 3 * PASS)

    def test_the_variant_of_the_kernels_is_the_one_that_ran(self):
        for how, variant in (({"fused": True}, "fused"), ({"foreach": False}, "single"), ({}, "foreach")):
            with symprof.simulate() as run:
                model = mlp()
                optimizer = torch.optim.AdamW(model.parameters(), **how)
                model(batch()).sum().backward()
                optimizer.step()
            self.assertEqual(run.profile.data["options"]["optimizer"], f"adamw:{variant}")


class Passes(unittest.TestCase):
    def test_saved_tensors_and_gradients_are_what_is_held_at_once(self):
        with symprof.simulate() as run:
            model = mlp()
            optimizer = torch.optim.SGD(model.parameters())
            for _ in range(3):
                for _ in range(4):
                    model(batch()).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        totals = run.profile.totals
        self.assertEqual(totals["fwd_flops"], 4 * PASS)
        self.assertEqual(run.profile.data["program"]["passes"], 4)
        self.assertEqual(totals["saved_bytes"], SAVED + 4 * BATCH * WIDTH)  # And the batch, which the program makes.
        self.assertEqual(totals["grad_bytes"], totals["param_bytes"])
        optimizer_row, = (node for node in run.profile.nodes if node["op"] == "optimizer")
        self.assertEqual(optimizer_row["incremental_bytes"], 0)

    def test_an_input_that_the_first_call_of_a_step_saves(self):
        with symprof.simulate() as run:
            model, x = nn.Linear(WIDTH, WIDTH, device="cuda"), batch()
            optimizer = torch.optim.SGD(model.parameters())
            for _ in range(2):
                model(x).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        self.assertEqual(run.profile.totals["saved_bytes_with_inputs"], 4 * BATCH * WIDTH)

    def test_two_passes_with_a_gradient_each(self):
        """Sharpness-aware minimization: gradients of the first pass are gone before those of the second come."""
        with symprof.simulate() as run:
            model = mlp()
            optimizer = torch.optim.SGD(model.parameters())
            for _ in range(2):
                model(batch()).sum().backward()
                optimizer.zero_grad()
                model(batch()).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        totals = run.profile.totals
        self.assertEqual((totals["fwd_flops"], totals["grad_bytes"]), (2 * PASS, totals["param_bytes"]))
        self.assertEqual(totals["saved_bytes"], SAVED + 4 * BATCH * WIDTH)

    def test_a_gradient_that_forward_makes_is_saved(self):
        """As fused losses do: what becomes `grad` in backward is kept from forward on."""
        class Fused(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight):
                ctx.save_for_backward(torch.ones_like(weight))
                return (x @ weight).sum()

            @staticmethod
            def backward(ctx, gradient):
                return None, *ctx.saved_tensors

        with symprof.simulate() as run:
            weight = torch.nn.Parameter(torch.zeros(WIDTH, WIDTH, device="cuda"))
            Fused.apply(batch(), weight).backward()
            torch.optim.SGD([weight]).step()
        totals = run.profile.totals
        self.assertEqual(totals["grad_bytes"], 4 * WIDTH * WIDTH)
        self.assertEqual(totals["saved_bytes"], 4 * WIDTH * WIDTH)

    def test_what_the_first_call_of_a_step_saves_is_of_this_step(self):
        """An operator's inputs are saved before it runs; here a batch that was made before the step."""
        with symprof.simulate() as run:
            table = torch.nn.Embedding(WIDTH, WIDTH).cuda()
            for _ in range(3):
                ids = torch.zeros(BATCH, dtype=torch.long, device="cuda")
                symprof.step()
                table(ids).sum().backward()
            symprof.step()
        self.assertEqual(run.profile.totals["saved_bytes_with_inputs"], 8 * BATCH)

    def test_a_gradient_of_a_gradient_is_no_recomputation(self):
        with symprof.simulate() as run:
            model = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1)).cuda()
            optimizer = torch.optim.SGD(model.parameters())
            for _ in range(2):
                x = batch().requires_grad_()
                gradient, = torch.autograd.grad(model(x).sum(), x, create_graph=True)
                gradient.square().sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        totals = run.profile.totals
        self.assertEqual(totals["recompute_flops_all"], 0)
        self.assertEqual(totals["model_flops"], totals["hardware_flops"])


class Evaluation(unittest.TestCase):
    def loop(self):
        model = mlp()
        optimizer = torch.optim.SGD(model.parameters())
        for _ in range(3):
            model(batch()).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            model.eval()
            with torch.no_grad():
                correct = sum((model(batch()) > 0).sum() for _ in range(2))
            model.train()
        return correct

    def test_what_runs_between_steps_is_in_none(self):
        with symprof.simulate() as run:
            self.loop()
        totals = run.profile.totals
        self.assertEqual((run.steps, totals["fwd_flops"]), (3, PASS))
        self.assertEqual(run.profile.data["program"]["between_passes"], 2)

    def test_it_can_be_asked_for(self):
        with symprof.simulate() as run:
            run.report_step(2, between=True)
            self.loop()
        self.assertEqual(run.profile.totals["fwd_flops"], 2 * PASS)
        self.assertEqual(run.profile.totals["bwd_flops"], 0)

    def test_a_teacher_is_part_of_the_step(self):
        with symprof.simulate() as run:
            teacher, student = mlp().eval(), mlp()
            optimizer = torch.optim.SGD(student.parameters())
            for _ in range(3):
                x = batch()
                with torch.no_grad():
                    wanted = teacher(x).softmax(-1)
                (student(x) - wanted).square().sum().backward()
                optimizer.step()
        self.assertEqual(run.profile.totals["fwd_flops"], 2 * PASS)
        self.assertEqual(modules(run.profile), {"teacher.0", "teacher.2", "student.0", "student.2"})

    def test_what_evaluation_makes_of_results_is_evaluation(self):
        with symprof.simulate() as run:
            model, total = mlp(), torch.zeros((), device="cuda")
            optimizer = torch.optim.SGD(model.parameters())
            for _ in range(3):
                x = batch()
                optimizer.zero_grad(set_to_none=False)
                model(x).sum().backward()
                optimizer.step()
                with torch.no_grad():
                    total += (model(batch()).argmax(-1) == 3).float().mean()
        ops = [call["op"] for call in run.profile.calls]
        self.assertEqual([ops.count(f"aten::{op}") for op in ("argmax", "eq", "mean", "randn", "zero_")], [0, 0, 0, 1, 4])

    def test_a_buffer_that_evaluation_writes_is_no_result_of_it(self):
        class Counting(nn.Linear):
            def __init__(self):
                super().__init__(WIDTH, WIDTH, device="cuda")
                self.register_buffer("mean", torch.zeros(WIDTH, device="cuda"))

            def forward(self, x):
                with torch.no_grad():
                    self.mean.add_(x.mean(0))
                return super().forward(x - self.mean)

        with symprof.simulate() as run:
            model = Counting()
            optimizer = torch.optim.SGD(model.parameters())
            for _ in range(3):
                model(batch()).sum().backward()
                optimizer.step()
                with torch.no_grad():
                    model(batch())
        self.assertEqual(run.profile.totals["fwd_flops"], 2 * BATCH * WIDTH * WIDTH)

    def test_a_step_that_is_not_there(self):
        run = symprof.simulate()
        run.report_step(7)
        with self.assertRaisesRegex(symprof.Error, "step: found 7, and 3 steps ended"), run:
            self.loop()


class Parts(nn.Module):
    """As a LightningModule: its parts are called in a method that is not forward."""

    def __init__(self):
        super().__init__()
        self.net = mlp()

    def training_step(self, x):
        return self.net(x).sum()


class Paths(unittest.TestCase):
    def test_modules_have_their_paths_in_the_whole_model(self):
        with symprof.simulate() as run:
            model = Parts()
            optimizer = torch.optim.SGD(model.parameters())
            model.training_step(batch()).backward()
            optimizer.step()
        self.assertEqual(modules(run.profile), {"net.0", "net.2"})


class HostMemory(unittest.TestCase):
    def test_parameters_in_host_memory_are_told(self):
        with symprof.simulate() as run:
            weight, x = nn.Parameter(torch.ones(WIDTH, HIDDEN)), batch()
            optimizer = torch.optim.SGD([weight], lr=0.1)
            for _ in range(3):
                (x @ weight.cuda()).sum().backward()
                optimizer.step()
        said = [warning for warning in run.profile.warnings if "host memory" in warning]
        self.assertEqual(len(said), 1)
        self.assertIn(f"1 parameters ({WIDTH * HIDDEN:,} numbers) are in host memory", said[0])

    def test_averaged_weights_are_persistent(self):
        with symprof.simulate() as run:
            model, x = mlp(), batch()
            averaged = [parameter.detach().clone() for parameter in model.parameters()]
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                model(x).sum().backward()
                optimizer.step()
                torch._foreach_lerp_(averaged, [parameter.detach() for parameter in model.parameters()], 0.1)
        self.assertEqual(run.profile.data["memory"]["at_peak"]["persistent"], sum(-(-4 * value.numel() // 512) * 512 for value in averaged))


if __name__ == "__main__":
    unittest.main()
