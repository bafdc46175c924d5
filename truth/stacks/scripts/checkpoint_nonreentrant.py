# Activation checkpointing of each transformer layer, non-reentrant
# packages: torch
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
dev = "cuda" if torch.cuda.is_available() else "cpu"
layers = nn.ModuleList(nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True, norm_first=True) for _ in range(3)).to(dev)
head = nn.Linear(128, 32).to(dev)
opt = torch.optim.AdamW([*layers.parameters(), *head.parameters()])
for _ in range(4):
    x = torch.randn(4, 64, 128, device=dev)
    for layer in layers:
        x = checkpoint(layer, x, use_reentrant=False)
    head(x).square().mean().backward()
    opt.step()
    opt.zero_grad()
