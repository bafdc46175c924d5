# MAML: two inner steps with create_graph for each of two tasks, Adam outside
# packages: torch
import torch
from torch import nn
from torch.func import functional_call
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1)).to(dev)
opt = torch.optim.Adam(model.parameters())
for _ in range(4):
    total = 0
    for _ in range(2):
        fast, x = dict(model.named_parameters()), torch.randn(16, 8, device=dev)
        for _ in range(2):
            loss = nn.functional.mse_loss(functional_call(model, fast, (x,)), x.sum(1, keepdim=True))
            slopes = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {name: p - 0.01 * g for (name, p), g in zip(fast.items(), slopes)}
        total = total + nn.functional.mse_loss(functional_call(model, fast, (x,)), x.mean(1, keepdim=True))
    opt.zero_grad()
    total.backward()
    opt.step()
