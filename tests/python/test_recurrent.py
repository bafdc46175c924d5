"""Recurrent layers, whose weights cuDNN has in one buffer."""
import unittest

import symprof  # Before torch.

import torch
from torch import nn

BATCH, TIME, WIDTH = 2, 3, 8
GATES = 3


def storages(layer):
    return {weight.untyped_storage()._cdata for weight in layer.parameters()}


class Recurrent(unittest.TestCase):
    def test_weights_lie_in_one_buffer_where_cudnn_runs(self):
        with symprof.simulate():
            self.assertEqual(len(storages(nn.GRU(WIDTH, WIDTH).cuda())), 1)
            with torch.backends.cudnn.flags(enabled=False):
                self.assertEqual(len(storages(nn.GRU(WIDTH, WIDTH).cuda())), 4)

    def test_runs_under_a_functional_transform_without_cudnn(self):
        """As in torch/nn/modules/rnn.py, weights that cuDNN does not take are not flattened: a transform's have no `.data`."""
        with symprof.simulate() as run, torch.backends.cudnn.flags(enabled=False):
            layer = nn.GRU(WIDTH, WIDTH, batch_first=True).cuda()
            weights = dict(layer.named_parameters())
            x = torch.randn(BATCH, TIME, WIDTH, device="cuda")
            torch.func.grad(lambda weights: torch.func.functional_call(layer, weights, (x,))[0].sum())(weights)
        product = 2 * BATCH * TIME * WIDTH * GATES * WIDTH
        self.assertEqual(run.profile.totals["fwd_flops"], 2 * product)  # Of the input, and of the state.


if __name__ == "__main__":
    unittest.main()
