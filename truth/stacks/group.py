"""PyTorch's own fake process group: this process is rank 0, and collectives do nothing."""
import os
from typing import Any

import torch
import torch.distributed as distributed


def summed(state: object, bucket: distributed.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """The fake group's work has no result, which DDP's reducer asks for."""
    future: torch.futures.Future[torch.Tensor] = torch.futures.Future(devices=["cuda:0"] if bucket.buffer().is_cuda else None)
    future.set_result(bucket.buffer())
    return future


def join(ranks: int) -> None:
    os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
    from torch.nn.parallel import distributed as data_parallel
    from torch.testing._internal.distributed.fake_pg import FakeStore

    begin, whole = distributed.init_process_group, data_parallel.DistributedDataParallel
    make, register = whole.__init__, whole.register_comm_hook

    def init_process_group(*args: Any, **kwargs: Any) -> None:
        begin("fake", store=FakeStore(), rank=0, world_size=ranks)

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        register(self, None, summed)

    distributed.init_process_group = init_process_group
    whole.__init__, whole.register_comm_hook = init, lambda *args: None
    data_parallel._verify_param_shape_across_processes = lambda *args, **kwargs: None  # It reads what other ranks sent.
