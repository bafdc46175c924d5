# Two devices in one process: the second half of a model on cuda:1
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
first, second = nn.Linear(64, 256).to(f"{dev}:0" if dev == "cuda" else dev), nn.Linear(256, 8).to(f"{dev}:1" if dev == "cuda" else dev)
opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for _ in range(4):
    x = first(torch.randn(16, 64, device=first.weight.device)).relu()
    second(x.to(second.weight.device)).square().mean().backward()
    opt.step()
    opt.zero_grad()
