# FSDP2: fully_shard of each block, mixed precision, checkpointing inside, clipping of DTensors
# packages: torch
# arguments: --ranks 4
# saved: gathered weights on the CPU
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.checkpoint import checkpoint
dev = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("nccl" if dev == "cuda" else "gloo")
mesh = init_device_mesh(dev, (4,))
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(256, 1024, bias=False), nn.Linear(1024, 256, bias=False)
    def forward(self, x):
        return x + checkpoint(lambda t: self.down(self.up(t).relu()), x, use_reentrant=False)
model = nn.Sequential(*(Block() for _ in range(3))).to(dev)
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for block in model:
    fully_shard(block, mesh=mesh, mp_policy=policy)
fully_shard(model, mesh=mesh, mp_policy=policy)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(32, 256, device=dev)).float().square().mean().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
