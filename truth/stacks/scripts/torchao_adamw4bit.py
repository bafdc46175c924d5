# torchao: AdamW4bit with bf16 stochastic rounding
# packages: torchao
import torch
from torch import nn
from torchao.optim import AdamW4bit
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(dev).bfloat16()
opt = AdamW4bit(model.parameters(), lr=1e-4, bf16_stochastic_round=True)
for _ in range(4):
    model(torch.randn(64, 256, device=dev, dtype=torch.bfloat16)).square().mean().backward()
    opt.step()
    opt.zero_grad()
