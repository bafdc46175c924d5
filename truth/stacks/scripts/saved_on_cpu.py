# Saved tensors wait in host memory (save_on_cpu)
# packages: torch
# saved: own hooks
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(*(nn.Sequential(nn.Linear(256, 256), nn.Tanh()) for _ in range(4))).to(dev)
opt = torch.optim.Adam(model.parameters())
for _ in range(4):
    with torch.autograd.graph.save_on_cpu(pin_memory=False):
        loss = model(torch.randn(64, 256, device=dev)).square().mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
