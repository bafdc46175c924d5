# lion-pytorch: Lion
# packages: lion-pytorch
import torch
from lion_pytorch import Lion
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).to(dev)
opt = Lion(model.parameters(), lr=1e-4, weight_decay=1e-2)
for _ in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(32, 128, device=dev)), torch.randint(0, 10, (32,), device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
