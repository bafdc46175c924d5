"""Values that a program on the simulated device knows, bounds of those that it does not, and what it is told of the rest."""
import contextlib
import io
import pathlib
import re
import sys
import tempfile
import unittest

import symprof  # Before torch.

import torch
import torch.nn.functional as F

from symprof import _run

BOXES = [[10.0, 10.0, 60.0, 80.0], [30.0, 40.0, 120.0, 130.0]]
CLASSES = 32
UNKNOWN = 64


def from_literals(device):
    boxes = torch.tensor(BOXES, device=device)
    schedule = torch.linspace(1000, 1, 1000).to(device)
    scores = torch.linspace(0, 1, 16).to(device)
    ids = torch.tensor([[1, 2, 3, 0, 0], [4, 5, 6, 7, 0]]).to(device)
    lengths = torch.tensor([3, 5, 2], device=device)
    ends = torch.cat([torch.zeros(1, dtype=torch.long, device=device), lengths.cumsum(0)])
    order = scores.argsort(descending=True)
    _, inverse, counts = (scores * 4).round().unique(return_inverse=True, return_counts=True)
    places = torch.arange(16, device=device)
    block = torch.vmap(torch.vmap(lambda q, k: (q >= k) & (q - k < 4), (None, 0)), (0, None))(places, places)
    filled = torch.full((6,), 7, device=device)
    filled[2:4] = torch.tensor([1, 2], device=device)
    return {
        "degenerate": bool((boxes[:, 2:] <= boxes[:, :2]).any()),
        "areas": ((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).tolist(),
        "timestep": [(schedule == t).nonzero().item() for t in schedule[[3, 500]]],
        "order": order.tolist(),
        "sorted": scores.sort(descending=True).values[0].item(),
        "inverse": inverse.tolist(),
        "counts": counts.tolist(),
        "bins": torch.bincount(ids.flatten(), minlength=10).tolist(),
        "buckets": torch.searchsorted(torch.tensor([0.25, 0.5], device=device), scores).tolist(),
        "one hot": F.one_hot(ids, 8).sum((0, 1)).tolist(),
        "rows": torch.repeat_interleave(torch.arange(3, device=device), lengths).tolist(),
        "ends": ends.tolist(),
        "padding": (ids != 0).sum().item(),
        "kept": torch.ones(2, 5, 3, device=device)[ids != 0].shape,
        "chosen": torch.where(scores > 0.5, scores, torch.zeros_like(scores)).max().item(),
        "block": block.view(4, 4, 4, 4).permute(0, 2, 1, 3).sum((-1, -2)).tolist(),
        "filled": filled.tolist(),
        "equal": (torch.equal(scores, scores + 1), torch.allclose(scores, scores + 1e-9), torch.allclose(scores, scores + 1)),
    }


class KnownValues(unittest.TestCase):
    def test_whether_unknown_tensors_are_close_is_a_stand_in(self):
        with symprof.simulate() as run:
            self.assertTrue(torch.allclose(torch.randn(4, device="cuda"), torch.randn(4, device="cuda")))
        self.assertEqual(len(run.profile.warnings), 1)

    def test_values_of_literals_are_those_of_the_host(self):
        with symprof.simulate() as run:
            known = from_literals("cuda")
        self.assertEqual(known, from_literals("cpu"))
        self.assertEqual(run.profile.warnings, [])

    def test_weights_are_not_followed(self):
        with symprof.simulate() as run:
            weight = torch.tensor([1.0, 2.0, 3.0, 5.0], requires_grad=True).cuda()
            self.assertNotEqual(weight.sum().item(), 11)
        self.assertEqual(len(run.profile.warnings), 1)

    def test_a_part_that_is_written_with_unknown_values_is_unknown_alone(self):
        with symprof.simulate() as run:
            x = torch.arange(6, device="cuda").float()
            x[0] = torch.randn((), device="cuda")
            self.assertEqual(x[1:].tolist(), [1, 2, 3, 4, 5])
            x[0] = 9
            self.assertEqual(x.tolist(), [9, 1, 2, 3, 4, 5])
        self.assertEqual(run.profile.warnings, [])


class Bounds(unittest.TestCase):
    def test_comparisons_that_bounds_decide(self):
        with symprof.simulate() as run:
            labels = torch.randint(0, CLASSES, (UNKNOWN,), device="cuda")
            self.assertFalse(labels.max() >= CLASSES)
            self.assertTrue(torch.all((labels >= 0) & (labels < CLASSES)))
            self.assertFalse((labels + 1).min() < 1)
            images = torch.rand(UNKNOWN, 8, device="cuda")
            self.assertFalse(images.max() > 1 or (images * 2 - 1).min() < -1)
            steps = (torch.rand(UNKNOWN, device="cuda") * 1000).long()
            self.assertTrue((steps < 1000).all())
            logits = torch.randn(UNKNOWN, CLASSES, device="cuda")
            for probabilities in (logits.softmax(-1), logits.sigmoid()):
                self.assertFalse(probabilities.min() < 0 or probabilities.max() > 1)
            for places in (logits.argmax(-1), logits.topk(3).indices, logits.max(-1).indices, logits.argsort(-1),
                           torch.multinomial(logits.softmax(-1), 2), labels.remainder(CLASSES), labels[torch.arange(4)]):
                self.assertFalse(places.max() >= CLASSES or places.min() < 0)
            self.assertTrue((F.one_hot(labels, CLASSES) <= 1).all())
        self.assertEqual(run.profile.warnings, [])

    def test_bounds_end_with_a_write_that_has_none(self):
        with symprof.simulate() as run:
            labels = torch.randint(0, CLASSES, (UNKNOWN,), device="cuda")
            labels[3] = torch.randn((), device="cuda").long()
            bool(labels.max() >= CLASSES)
        self.assertEqual(len(run.profile.warnings), 1)

    def test_stand_ins_lie_within_bounds(self):
        with symprof.simulate():
            drawn = torch.randint(5, 10, (UNKNOWN,), device="cuda")
            self.assertEqual((drawn[0].item(), drawn.max().item(), drawn.min().item()), (5, 9, 5))
            mask = torch.randn(UNKNOWN, 3, device="cuda").sum(-1) > 0
            self.assertEqual(mask.sum().item(), torch.ones(UNKNOWN, device="cuda")[mask].shape[0])


class Experts(unittest.TestCase):
    def test_counts_of_unknown_choices_sum_to_their_number(self):
        experts = 4
        with symprof.simulate() as run:
            choices = torch.randn(UNKNOWN, experts, device="cuda").topk(2).indices.flatten()
            counts = torch.bincount(choices, minlength=experts)
            self.assertEqual(counts.shape, (experts,))
            parts = choices.split(counts.tolist())
            self.assertEqual(sum(part.numel() for part in parts), 2 * UNKNOWN)
            self.assertEqual(int(counts.cumsum(0)[-1]), 2 * UNKNOWN)
            self.assertEqual(torch.histc(choices.float(), experts, 0, experts - 1).sum().item(), 2 * UNKNOWN)
        self.assertEqual(len(run.profile.warnings), 3)

    def test_a_count_without_bounds_is_refused_with_advice_for_programs(self):
        with symprof.simulate():
            numbers = torch.randn(UNKNOWN, device="cuda").long()
            with self.assertRaisesRegex(symprof.Error, r"symprof\.given\(tensor, value\)"):
                torch.bincount(numbers)


class UpperBounds(unittest.TestCase):
    def test_a_number_of_an_upper_bound_is_a_stand_in(self):
        with symprof.simulate() as run:
            schedule = torch.linspace(1000, 1, 1000, device="cuda")
            step = schedule[torch.randint(0, 1000, (1,), device="cuda")]
            place = (schedule == step).nonzero()
            self.assertIn(place.item(), range(1000))
            self.assertIn(int(place.flatten()), range(1000))
        self.assertIn("read unknown values of tensors", run.profile.warnings[0])

    def test_totals_say_that_they_rest_on_upper_bounds(self):
        def profile_of(x, keep):
            with symprof.simulate() as run:
                weight = torch.randn(8, 8, device="cuda", requires_grad=True)
                rows = x.cuda()[keep.cuda()] @ weight
                rows.sum().backward()
            return run.profile

        x, keep = torch.ones(UNKNOWN, 8), torch.arange(UNKNOWN) % 2 == 0
        known, bound = profile_of(x, keep), profile_of(x, keep.to("meta"))
        self.assertNotIn("is_upper_bound", known.totals)
        self.assertNotIn("≤", known.table())
        self.assertIs(bound.totals["is_upper_bound"], True)
        self.assertEqual(bound.totals["fwd_flops"], 2 * known.totals["fwd_flops"])
        for line in ("saved", "peak", "nvidia-smi", "forward", "backward"):
            self.assertRegex(bound.table(), rf"(?m)^{line} +≤ ")


class Given(unittest.TestCase):
    def test_values_that_are_said_decide_sizes(self):
        with symprof.simulate() as run:
            x = torch.randn(4, 3, device="cuda")
            keep = symprof.given(x[:, 0] > 0, [True, False, True, True])
            self.assertEqual(x[keep].shape, (3, 3))
            self.assertEqual(symprof.given(x, 2).sum().item(), 24)
            symprof.given(x[1], [5.0, 6.0, 7.0])
            self.assertEqual(x.tolist(), [[2, 2, 2], [5, 6, 7], [2, 2, 2], [2, 2, 2]])
        self.assertEqual(run.profile.warnings, [])

    def test_elsewhere_nothing_happens(self):
        x = torch.ones(3)
        self.assertIs(symprof.given(x, 5), x)
        with symprof.simulate():
            self.assertEqual(symprof.given(x, 5).tolist(), [1, 1, 1])
        self.assertEqual(symprof.given(3, 5), 3)

    def test_values_that_do_not_fit_are_refused(self):
        with symprof.simulate():
            x = torch.randn(4, device="cuda")
            for value, words in (([1, 2, 3], "shape"), (x, "on the host")):
                with self.assertRaisesRegex(symprof.Error, words):
                    symprof.given(x, value)


CHECK = """import torch
x = torch.randn(4, device="cuda")
if (x < 3).any():
    raise ValueError("too large")
"""


class StandIns(unittest.TestCase):
    def test_checks_of_a_range_pass_and_generation_goes_on(self):
        """1 stands for an unknown number, and comparisons with integers are those of 1; it is none of a few that are named."""
        with symprof.simulate():
            words = torch.randint(0, 1000, (4,), device="cuda")
            is_open = torch.ones(4, dtype=torch.long, device="cuda")
            is_done = torch.full((4,), False, device="cuda") | torch.isin(words, torch.tensor([7, 9], device="cuda"))
            self.assertFalse(bool((words.max() >= 1000).item()))
            self.assertFalse(bool((words == -100).all().item()))
            self.assertFalse(bool(((is_open & ~is_done).max() == 0).item()))


class Errors(unittest.TestCase):
    def test_an_error_names_the_line_that_got_a_stand_in(self):
        with self.assertRaises(ValueError) as caught, symprof.simulate():
            if (torch.randn(4, device="cuda") < 3).any():
                raise ValueError("too large")
        self.assertRegex(caught.exception.__notes__[-1], r"test_known_values\.py:\d+ read an unknown value .* and got 1\. Set the value with symprof\.given")

    def test_a_script_ends_as_in_python_and_the_line_comes_last(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "check.py"
            script.write_text(CHECK)
            errors, before = io.StringIO(), (sys.argv, sys.path[:])
            with contextlib.redirect_stderr(errors):
                code = _run.main([str(script)])
            sys.argv, sys.path[:] = before
        lines = errors.getvalue().splitlines()
        self.assertEqual(code, 1)
        self.assertEqual(lines[0], "Traceback (most recent call last):")
        self.assertIn("check.py\", line 4", lines[1])
        self.assertIn("ValueError: too large", lines)
        self.assertTrue(re.fullmatch(r"symprof: check\.py:3 read an unknown value of a tensor and got 1\. "
                                     r"Set the value with symprof\.given\(tensor, value\)\.", lines[-1]), lines[-1])


if __name__ == "__main__":
    unittest.main()
