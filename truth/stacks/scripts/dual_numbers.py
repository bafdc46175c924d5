# Dual numbers of torch.autograd.forward_ad: forward gradients without a backward pass
# packages: torch
import torch, torch.autograd.forward_ad as fwAD
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)).to(dev)
params = {name: p.detach() for name, p in net.named_parameters()}
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(4):
    x, y = torch.randn(16, 32, device=dev), torch.randint(0, 4, (16,), device=dev)
    tangents = {name: torch.randn_like(p) for name, p in params.items()}
    with fwAD.dual_level():
        duals = {name: fwAD.make_dual(p, tangents[name]) for name, p in params.items()}
        loss = nn.functional.cross_entropy(torch.func.functional_call(net, duals, (x,)), y)
        slope = fwAD.unpack_dual(loss).tangent
    for name, p in net.named_parameters():
        p.grad = slope * tangents[name]
    opt.step()
