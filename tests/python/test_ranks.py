"""Programs for several ranks: this process is rank 0 of a group that is not there."""
import os
import unittest

import symprof  # Before torch.

import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WIDTH, RANKS, FLOAT = 512, 8, 4


class Ranks(unittest.TestCase):
    def test_the_group_has_the_size_that_was_asked_for(self):
        with symprof.simulate(ranks=RANKS):
            self.assertEqual(os.environ["WORLD_SIZE"], str(RANKS))
            distributed.init_process_group("nccl")
            self.assertEqual((distributed.get_rank(), distributed.get_world_size()), (0, RANKS))
            x = torch.randn(4, device="cuda")
            distributed.all_reduce(x)
            parts = torch.empty(RANKS * 4, device="cuda")
            distributed.all_gather_into_tensor(parts, x)
            self.assertEqual(parts.shape, (RANKS * 4,))
        self.assertFalse(distributed.is_initialized())
        self.assertNotIn("WORLD_SIZE", os.environ)

    def test_data_parallel_keeps_buckets_of_its_gradients(self):
        def held(is_parallel):
            with symprof.simulate(ranks=RANKS):
                distributed.init_process_group("nccl")
                model = nn.Linear(WIDTH, WIDTH, bias=False).cuda()
                model = DistributedDataParallel(model, device_ids=[0]) if is_parallel else model
                for _ in range(2):
                    model(torch.randn(4, WIDTH).cuda()).sum().backward()
                    for parameter in model.parameters():
                        parameter.grad = None
                return torch.cuda.memory_allocated()

        self.assertEqual(held(True) - held(False), FLOAT * WIDTH * WIDTH)


if __name__ == "__main__":
    unittest.main()
