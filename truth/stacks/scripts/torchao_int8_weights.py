# torchao: frozen weights of int8 (quantize_), low-rank matrices trained
# packages: torchao
import torch
from torch import nn
from torchao.quantization import Int8WeightOnlyConfig, quantize_
dev = "cuda" if torch.cuda.is_available() else "cpu"
base = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).to(dev).bfloat16().requires_grad_(False)
quantize_(base, Int8WeightOnlyConfig())
a, b = nn.Linear(256, 8, bias=False).to(dev).bfloat16(), nn.Linear(8, 256, bias=False).to(dev).bfloat16()
opt = torch.optim.AdamW([*a.parameters(), *b.parameters()])
for _ in range(4):
    x = torch.randn(32, 256, device=dev, dtype=torch.bfloat16)
    base(x + b(a(x))).float().square().mean().backward()
    opt.step()
    opt.zero_grad()
