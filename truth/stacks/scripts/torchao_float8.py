# torchao: float8 training of linears (dynamic scaling)
# packages: torchao
import torch
from torch import nn
from torchao.float8 import Float8LinearConfig, convert_to_float8_training
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).to(dev).bfloat16()
convert_to_float8_training(model, config=Float8LinearConfig(emulate=dev == "cpu"))
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(32, 256, device=dev, dtype=torch.bfloat16)).square().mean().backward()
    opt.step()
    opt.zero_grad()
