# FSDP1: blocks by a wrap policy, original parameters, clipping over the shards
# packages: torch
# arguments: --ranks 4
# saved: gathered weights on the CPU
import os, torch  # noqa: F401
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, MixedPrecision, ShardingStrategy
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
dev = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("nccl" if dev == "cuda" else "gloo")
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(256), nn.Linear(256, 1024), nn.Linear(1024, 256)
    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))
model = FSDP(nn.Sequential(*(Block() for _ in range(3))), auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=True,
             sharding_strategy=ShardingStrategy.FULL_SHARD, device_id=0 if dev == "cuda" else torch.device("cpu"),
             mixed_precision=MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(32, 256, device=dev)).square().mean().backward()
    model.clip_grad_norm_(1.0)
    opt.step()
    opt.zero_grad()
