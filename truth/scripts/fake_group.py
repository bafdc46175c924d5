"""Gives a program on the GPU that computes nothing the process group that does nothing: the process is rank 0 of WORLD_SIZE."""
import os

import torch
import torch.distributed as distributed
from torch.nn.parallel import distributed as data_parallel
from torch.testing._internal.distributed.fake_pg import FakeStore

begin = distributed.init_process_group
call = data_parallel.DistributedDataParallel.forward


def init_process_group(*args, **kwargs):
    begin("fake", store=FakeStore(), rank=0, world_size=int(os.environ["WORLD_SIZE"]))


def verify(group, tensors, logger=None):
    """The real one reads what the other ranks sent. It sends one block of int64."""
    torch.empty(sum(1 + tensor.dim() for tensor in tensors), dtype=torch.int64, device="cuda")


def summed(state, bucket):
    """The fake group's work has no result, which the reducer asks for."""
    future = torch.futures.Future(devices=["cuda:0"])
    future.set_result(bucket.buffer())
    return future


def forward(self, *args, **kwargs):
    if not self._comm_hooks:
        self.register_comm_hook(None, summed)
    return call(self, *args, **kwargs)


def install():
    data_parallel.DistributedDataParallel.forward = forward
    distributed.init_process_group = init_process_group
    data_parallel._verify_param_shape_across_processes = verify
