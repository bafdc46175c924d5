# Activation checkpointing in its reentrant form, and checkpoint_sequential
# packages: torch
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
dev = "cuda" if torch.cuda.is_available() else "cpu"
stem = nn.Linear(64, 256).to(dev)
body = nn.Sequential(*(nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(4))).to(dev)
tail = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).to(dev)
opt = torch.optim.AdamW([*stem.parameters(), *body.parameters(), *tail.parameters()])
for _ in range(4):
    x = checkpoint_sequential(body, 2, stem(torch.randn(64, 64, device=dev)), use_reentrant=True)
    nn.functional.cross_entropy(checkpoint(tail, x, use_reentrant=True), torch.randint(0, 10, (64,), device=dev)).backward()
    opt.step()
    opt.zero_grad()
