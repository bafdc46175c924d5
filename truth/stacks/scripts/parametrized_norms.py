# Spectral norm, weight norm and an orthogonal parametrization
# packages: torch
import torch
from torch import nn
from torch.nn.utils import parametrizations as par
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(par.weight_norm(nn.Linear(64, 128)), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), par.weight_norm(nn.Linear(64, 1))).to(dev)
par.orthogonal(model[2], orthogonal_map="cayley")
opt = torch.optim.Adam(model.parameters())
for _ in range(4):
    model(torch.randn(16, 64, device=dev)).mean().backward()
    opt.step()
    opt.zero_grad()
