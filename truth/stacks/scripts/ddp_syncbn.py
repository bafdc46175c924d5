# DDP with synchronized batch norm, a DistributedSampler and autocast
# packages: torch
# arguments: --ranks 4
# expect: saved_bytes = 293924 + 4*4 + 2*16*10
# why: the CPU's, and the counts of four ranks (SyncBatchNorm) and log_softmax in bfloat16 before its float32 (CUDA's autocast)
import os, torch
import torch.distributed as dist
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("nccl" if dev == "cuda" else "gloo")
if dev == "cuda":
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, 2, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
if dev == "cuda":
    net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
model = nn.parallel.DistributedDataParallel(net.to(dev), static_graph=True)
data = torch.utils.data.TensorDataset(torch.randn(256, 3, 16, 16), torch.randint(0, 10, (256,)))
loader = torch.utils.data.DataLoader(data, 16, sampler=torch.utils.data.DistributedSampler(data))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for x, y in loader:
    with torch.autocast(dev, torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x.to(dev)), y.to(dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
