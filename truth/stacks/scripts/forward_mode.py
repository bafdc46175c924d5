# Forward-mode automatic differentiation: a directional derivative by torch.func.jvp is part of the loss
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)).to(dev)
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    x, v = torch.randn(128, 8, device=dev), torch.randn(128, 8, device=dev)
    value, slope = torch.func.jvp(net, (x,), (v,))
    loss = value.square().mean() + (slope - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
