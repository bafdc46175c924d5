# torch.compile of the whole model, mode max-autotune-no-cudagraphs
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.compile(nn.Sequential(nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 128)).to(dev), mode="max-autotune-no-cudagraphs")
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(32, 128, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
