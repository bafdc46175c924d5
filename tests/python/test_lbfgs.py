"""A step of L-BFGS has as many evaluations as its settings allow."""
import unittest

import symprof  # Before torch.

import torch
from torch import nn

WIDTH, ROWS, FLOAT = 32, 16, 4
STEPS, HISTORY = 3, 4


def report_of(line_search=None, max_iter=2, max_eval=None):
    run = symprof.simulate("h100")
    with run:
        model = nn.Linear(WIDTH, 1, bias=False).cuda()
        x, y = torch.randn(ROWS, WIDTH, device="cuda"), torch.randn(ROWS, 1, device="cuda")
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=max_iter, max_eval=max_eval, history_size=HISTORY,
                                      line_search_fn=line_search)

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        for _ in range(STEPS):
            optimizer.step(closure)
    return run.profile


class Lbfgs(unittest.TestCase):
    def test_every_evaluation_counts(self):
        for evaluations in (2, 5):
            with self.subTest(evaluations):
                totals = report_of(max_iter=evaluations, max_eval=evaluations).totals
                self.assertEqual(totals["fwd_flops"], evaluations * 2 * ROWS * WIDTH)
                self.assertEqual(totals["bwd_flops"], evaluations * 2 * ROWS * WIDTH)

    def test_a_line_search_ends(self):
        totals = report_of(line_search="strong_wolfe").totals
        self.assertEqual(totals["fwd_flops"] % (2 * ROWS * WIDTH), 0)
        self.assertGreaterEqual(totals["fwd_flops"], 2 * 2 * ROWS * WIDTH)

    def test_states_are_the_direction_the_gradient_and_the_history(self):
        # Each step goes one direction, and the first has no history yet; a direction comes with a step and ro.
        history = STEPS - 1
        scalars = 1 + 2 * history  # H_diag, and of each direction ro and al.
        self.assertEqual(report_of().totals["optimizer_bytes"], FLOAT * ((2 + 2 * history) * WIDTH + scalars))

    def test_it_is_said(self):
        said = [warning for warning in report_of().warnings if "L-BFGS" in warning]
        self.assertEqual(len(said), 1)

    def test_on_the_host_nothing_changes(self):
        with symprof.simulate("h100"):
            weight = torch.ones(4, requires_grad=True)
            optimizer = torch.optim.LBFGS([weight], max_iter=20)

            def closure():
                optimizer.zero_grad()
                loss = weight.square().sum()
                loss.backward()
                return loss

            optimizer.step(closure)
        self.assertLess(float(weight.detach().abs().max()), 1e-3)


if __name__ == "__main__":
    unittest.main()
