# torch.autograd.detect_anomaly around the whole loop
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 64)).to(dev)
opt = torch.optim.Adam(model.parameters())
with torch.autograd.detect_anomaly(check_nan=True):
    for _ in range(4):
        model(torch.randn(32, 64, device=dev)).square().mean().backward()
        opt.step()
        opt.zero_grad()
