# Two losses of one graph: retain_graph, gradients by autograd.grad, then PCGrad's projection
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
body, heads = nn.Sequential(nn.Linear(64, 128), nn.ReLU()).to(dev), nn.ModuleList(nn.Linear(128, 5) for _ in range(2)).to(dev)
opt = torch.optim.Adam([*body.parameters(), *heads.parameters()])
for _ in range(4):
    h, y = body(torch.randn(32, 64, device=dev)), torch.randint(0, 5, (32,), device=dev)
    losses = [nn.functional.cross_entropy(head(h), y) for head in heads]
    first, second = (torch.autograd.grad(loss, list(body.parameters()), retain_graph=True) for loss in losses)
    opt.zero_grad()
    sum(losses).backward()
    for p, a, b in zip(body.parameters(), first, second):
        dot = (a * b).sum().clamp(max=0)
        p.grad = a + b - dot * (a / a.square().sum() + b / b.square().sum())
    opt.step()
