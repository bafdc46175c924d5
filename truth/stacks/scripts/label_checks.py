# A library's checks: labels made on the device must lie in their range, weights must be finite
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(32, 16).to(dev)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    y = torch.randint(0, 16, (24,), device=dev)
    if y.min() < 0 or y.max() >= 16:
        raise ValueError("labels must be in [0, 16)")
    if not torch.isfinite(model.weight).all():
        raise ValueError("weights must be finite")
    nn.functional.cross_entropy(model(torch.randn(24, 32, device=dev)), y).backward()
    opt.step()
    opt.zero_grad()
