# Matrices by Muon, everything else by AdamW: two optimizers in one step
# packages: torch
# updates: 2
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(128, 256), nn.LayerNorm(256), nn.GELU(), nn.Linear(256, 128)).to(dev)
muon = torch.optim.Muon([p for p in model.parameters() if p.ndim == 2], lr=0.02)
adamw = torch.optim.AdamW([p for p in model.parameters() if p.ndim != 2], lr=3e-4)
for _ in range(4):
    model(torch.randn(64, 128, device=dev)).square().mean().backward()
    for opt in (muon, adamw):
        opt.step()
        opt.zero_grad()
