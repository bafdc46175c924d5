# Tensor parallelism: columns, then rows, over two ranks
# packages: torch
# arguments: --ranks 2
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
dev = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("nccl" if dev == "cuda" else "gloo")
model = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)).to(dev)
parallelize_module(model, init_device_mesh(dev, (2,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(64, 128, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
