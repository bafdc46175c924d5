"""Programs for several ranks: this process is rank 0 of a group that is not there."""
import os
import unittest

import symprof  # Before torch.

import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WIDTH, RANKS, FLOAT = 512, 8, 4
LAYERS, ROWS = 3, 4
HAS_SHARDS = torch.__version__ >= "2.13"


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

    def test_objects_of_every_rank_are_those_of_this_one(self):
        with symprof.simulate(ranks=RANKS):
            distributed.init_process_group("nccl")
            gathered, received = [None] * RANKS, [{"step": 3}]
            distributed.all_gather_object(gathered, {"loss": 2.5})
            distributed.broadcast_object_list(received, src=0)
            self.assertEqual((gathered, received), ([{"loss": 2.5}] * RANKS, [{"step": 3}]))
            with self.assertRaisesRegex(symprof.Error, "object of rank 1, and rank 0 runs alone"):
                distributed.recv_object_list([None], src=1)

    def test_batch_norm_is_synchronized(self):
        """Ranks gather their mean, variance and count as a row of one tensor (torch/nn/modules/_functions.py)."""
        with symprof.simulate(ranks=RANKS) as run:
            distributed.init_process_group("nccl")
            model = nn.SyncBatchNorm(WIDTH).cuda()
            model(torch.randn(ROWS, WIDTH, device="cuda")).sum().backward()
        self.assertGreater(run.profile.totals["saved_bytes"], FLOAT * ROWS * WIDTH)

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

    @unittest.skipUnless(HAS_SHARDS, "an older torch")
    def test_sharded_parameters_are_gathered_for_their_layer_alone(self):
        """Those of a layer are gathered into one block, and copied into blocks of their own, which go when its forward ends;
        the first block goes when the next layer's is copied out (torch/distributed/fsdp/_fully_shard)."""
        from torch.distributed.fsdp import fully_shard

        seen = []

        class Layer(nn.Linear):
            def forward(self, x):
                seen.append(torch.cuda.memory_allocated())
                return super().forward(x)

        with symprof.simulate(ranks=RANKS) as run:
            distributed.init_process_group("nccl")
            mesh = distributed.init_device_mesh("cuda", (RANKS,))
            with torch.device("meta"):
                model = nn.Sequential(*(Layer(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))
            for layer in model:
                fully_shard(layer, mesh=mesh)
            fully_shard(model, mesh=mesh)
            model.to_empty(device="cuda")
            built = torch.cuda.memory_allocated()
            x = torch.zeros(ROWS, WIDTH, device="cuda")
            model(x).sum().backward()
            with_gradients = torch.cuda.memory_allocated()
            model.zero_grad()
            without = torch.cuda.memory_allocated()
        layer, activation = FLOAT * WIDTH * WIDTH, FLOAT * ROWS * WIDTH
        self.assertEqual(built, LAYERS * layer // RANKS)
        self.assertEqual(with_gradients - without, LAYERS * layer // RANKS)
        # Backward gathers again, but runs no forward. Between the first two layers cuBLAS has taken its workspace.
        self.assertEqual(seen[0], built + activation + 2 * layer)
        self.assertEqual(seen[2] - seen[1], activation)
        self.assertEqual(run.profile.totals["param_count"], LAYERS * WIDTH * WIDTH // RANKS)

    def test_hooks_of_gradients_and_sharded_optimizers_run(self):
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
        from torch.distributed.optim import ZeroRedundancyOptimizer

        with symprof.simulate(ranks=2) as run:
            distributed.init_process_group("nccl", pg_options=distributed.ProcessGroupNCCL.Options())
            self.assertEqual(distributed.get_backend(), "nccl")
            layers = nn.Sequential(*(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2)))
            model = DistributedDataParallel(layers.cuda(), gradient_as_bucket_view=True)
            model.register_comm_hook(None, bf16_compress_hook)
            optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
            for _ in range(3):
                model(torch.randn(ROWS, WIDTH, device="cuda")).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        self.assertEqual(run.profile.totals["optimizer_bytes"], FLOAT * WIDTH * WIDTH)  # One of two equal layers is this rank's.

    def gathered(self, wrap):
        """Of a step whose layers are gathered, and freed behind forward; saved is each layer's input, and the last one's output."""
        with symprof.simulate(ranks=RANKS) as run:
            distributed.init_process_group("nccl")
            torch.cuda.set_device(0)
            model = wrap(nn.Sequential(*(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS))))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                model(torch.randn(ROWS, WIDTH, device="cuda")).square().sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        self.assertEqual(run.profile.totals["saved_bytes"], (LAYERS + 1) * FLOAT * ROWS * WIDTH)

    @unittest.skipUnless(HAS_SHARDS, "an older torch")
    def test_gathered_parameters_are_not_saved(self):
        from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy

        def shard(model):
            for layer in model:
                fully_shard(layer.cuda())
            return fully_shard(model)

        self.gathered(shard)
        for original in (False, True):
            self.gathered(lambda model: FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}), device_id=0,
                                                                 use_orig_params=original))

    @unittest.skipUnless(HAS_SHARDS, "an older torch")
    def test_tensor_parallelism_says_that_its_peaks_are_not_exact(self):
        from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

        with symprof.simulate(ranks=RANKS) as run:
            distributed.init_process_group("nccl")
            mesh = distributed.init_device_mesh("cuda", (RANKS,))
            layer = parallelize_module(nn.Linear(WIDTH, WIDTH, bias=False).cuda(), mesh, ColwiseParallel())
            layer(torch.zeros(ROWS, WIDTH, device="cuda")).sum().backward()
        self.assertEqual(run.profile.totals["param_count"], WIDTH * WIDTH // RANKS)
        self.assertEqual(sum("tensor parallelism" in warning for warning in run.profile.warnings), 1)

    @unittest.skipIf(HAS_SHARDS, "torch has what it needs")
    def test_shards_of_an_older_torch_are_refused_in_words(self):
        from torch.distributed.fsdp import fully_shard

        with symprof.simulate(ranks=RANKS), self.assertRaisesRegex(symprof.Error, "need torch 2.13"):
            distributed.init_process_group("nccl")
            fully_shard(nn.Linear(WIDTH, WIDTH).cuda(), mesh=distributed.init_device_mesh("cuda", (RANKS,)))


if __name__ == "__main__":
    unittest.main()
