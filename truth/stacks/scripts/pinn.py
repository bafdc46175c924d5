# A physics-informed network: first and second derivatives of its output are in the loss
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)).to(dev)
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    x = torch.rand(128, 2, device=dev, requires_grad=True)
    u = net(x)
    du, = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)
    ddu, = torch.autograd.grad(du[:, 0], x, torch.ones_like(du[:, 0]), create_graph=True)
    loss = (du[:, 1] - 0.01 * ddu[:, 0] + u[:, 0] * du[:, 0]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
