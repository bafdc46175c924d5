# bitsandbytes: AdamW8bit, states by blocks of 256 for parameters of 4,096 numbers and more
# packages: bitsandbytes
# expect: optimizer_bytes = sum(2*(n + -(-n//256)*4) + 2*256*4 for n in (256*1024, 1024*256)) + 2*4*(1024 + 256)
import bitsandbytes as bnb, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).to(dev)
opt = bnb.optim.AdamW8bit(model.parameters(), lr=1e-4)
for _ in range(4):
    model(torch.randn(32, 256, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
