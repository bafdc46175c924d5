# torchao: AdamW8bit on large weights, ordinary states for small ones
# packages: torchao
import torch
from torch import nn
from torchao.optim import AdamW8bit
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(dev)
opt = AdamW8bit(model.parameters(), lr=1e-4)
for _ in range(4):
    model(torch.randn(64, 256, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
