# torchao: AdamWFp8
# packages: torchao
import torch
from torch import nn
from torchao.optim import AdamWFp8
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(dev)
opt = AdamWFp8(model.parameters(), lr=1e-4)
for _ in range(4):
    model(torch.randn(64, 256, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
