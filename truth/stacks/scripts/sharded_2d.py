# FSDP2 over tensor parallelism on a mesh of 2 x 2
# packages: torch
# arguments: --ranks 4
# saved: gathered weights on the CPU
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
dev = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("nccl" if dev == "cuda" else "gloo")
mesh = init_device_mesh(dev, (2, 2), mesh_dim_names=("data", "tensor"))
model = nn.Sequential(*(nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128)) for _ in range(2))).to(dev)
for block in model:
    parallelize_module(block, mesh["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    fully_shard(block, mesh=mesh["data"])
fully_shard(model, mesh=mesh["data"])
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(64, 128, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
