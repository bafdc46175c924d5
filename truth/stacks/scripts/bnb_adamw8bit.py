# bitsandbytes: AdamW8bit, states by blocks of 256 for parameters of 4,096 numbers and more
# packages: bitsandbytes
import bitsandbytes as bnb, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).to(dev)
opt = bnb.optim.AdamW8bit(model.parameters(), lr=1e-4)
for _ in range(4):
    model(torch.randn(32, 256, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
