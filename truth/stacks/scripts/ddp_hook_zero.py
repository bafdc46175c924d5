# DDP with no_sync, a bf16 compression hook and ZeroRedundancyOptimizer
# packages: torch
# arguments: --ranks 2
import contextlib, os, torch  # noqa: F401
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
from torch.distributed.optim import ZeroRedundancyOptimizer
dev = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("nccl" if dev == "cuda" else "gloo")
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).to(dev), gradient_as_bucket_view=True)
model.register_comm_hook(None, bf16_compress_hook)
opt = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-3)
for _ in range(4):
    for last in (False, True):
        with contextlib.nullcontext() if last else model.no_sync():
            model(torch.randn(32, 256, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
