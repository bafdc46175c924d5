# No optimizer: parameters are updated under no_grad, as introductions to PyTorch do
# packages: torch
# iterations: 4
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 10)).to(dev)
for _ in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(32, 128, device=dev)), torch.randint(0, 10, (32,), device=dev))
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
