# R1 regularization of real images, both losses in one step of one optimizer
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
D = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.Softplus(), nn.Conv2d(16, 1, 8), nn.Flatten()).to(dev)
opt = torch.optim.RMSprop(D.parameters(), 1e-4)
for _ in range(4):
    real, fake = torch.randn(8, 3, 8, 8, device=dev, requires_grad=True), torch.randn(8, 3, 8, 8, device=dev)
    score = D(real)
    slope, = torch.autograd.grad(score.sum(), real, create_graph=True)
    loss = nn.functional.softplus(-score).mean() + nn.functional.softplus(D(fake)).mean() + slope.square().flatten(1).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
