# LOMO's idea without an optimizer: a hook subtracts the gradient and frees it
# packages: torch
# iterations: 4
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(*(nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(4))).to(dev)
@torch.no_grad()
def update(p):
    p.add_(p.grad, alpha=-0.01)
    p.grad = None
for p in model.parameters():
    p.register_post_accumulate_grad_hook(update)
for _ in range(4):
    model(torch.randn(64, 256, device=dev)).square().mean().backward()
