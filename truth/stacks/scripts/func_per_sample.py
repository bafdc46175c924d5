# Per-sample gradients by vmap(grad) with functional_call, clipped and noised
# packages: torch
# saved: torch.func
import torch
from torch import nn
from torch.func import functional_call, grad_and_value, vmap
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 5)).to(dev)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def loss_of(params, x, y):
    return nn.functional.cross_entropy(functional_call(model, params, (x.unsqueeze(0),)), y.unsqueeze(0))
each = vmap(grad_and_value(loss_of), in_dims=(None, 0, 0))
for _ in range(4):
    x, y = torch.randn(16, 64, device=dev), torch.randint(0, 5, (16,), device=dev)
    grads, _ = each({k: p.detach() for k, p in model.named_parameters()}, x, y)
    norm = sum(g.flatten(1).square().sum(1) for g in grads.values()).sqrt()
    for name, p in model.named_parameters():
        g = grads[name] * (1 / norm).clamp(max=1).view(-1, *[1] * p.ndim)
        p.grad = g.sum(0) / 16 + torch.randn_like(p) * 0.01
    opt.step()
