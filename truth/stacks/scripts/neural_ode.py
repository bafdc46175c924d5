# A neural ODE by Runge-Kutta's method, eight steps
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
f = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 16)).to(dev)
opt = torch.optim.Adam(f.parameters())
for _ in range(4):
    x, h = torch.randn(64, 16, device=dev), 0.125
    for _ in range(8):
        a = f(x)
        b = f(x + h / 2 * a)
        c = f(x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + f(x + h * c))
    x.square().mean().backward()
    opt.step()
    opt.zero_grad()
