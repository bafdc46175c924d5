# WGAN-GP: two critic steps with a second-order gradient penalty, then the generator's
# packages: torch
# updates: 3
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
G = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 256)).to(dev)
D = nn.Sequential(nn.Linear(256, 128), nn.Tanh(), nn.Linear(128, 1)).to(dev)
og, od = torch.optim.Adam(G.parameters(), 1e-4), torch.optim.Adam(D.parameters(), 1e-4)
for _ in range(4):
    for _ in range(2):
        real, fake = torch.randn(32, 256, device=dev), G(torch.randn(32, 16, device=dev)).detach()
        mix = torch.lerp(real, fake, torch.rand(32, 1, device=dev)).requires_grad_()
        slope, = torch.autograd.grad(D(mix).sum(), mix, create_graph=True)
        loss = D(fake).mean() - D(real).mean() + 10 * (slope.norm(dim=1) - 1).square().mean()
        od.zero_grad()
        loss.backward()
        od.step()
    og.zero_grad()
    (-D(G(torch.randn(32, 16, device=dev))).mean()).backward()
    og.step()
