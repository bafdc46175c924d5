# Flow matching: sigmas looked up by timestep, (schedule == t).nonzero().item(), on the device
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Conv2d(4, 32, 3, padding=1), nn.SiLU(), nn.Conv2d(32, 4, 3, padding=1)).to(dev)
opt = torch.optim.AdamW(net.parameters())
timesteps = torch.linspace(1, 1000, 1000).flip(0)
sigmas = timesteps / 1000
for _ in range(4):
    t = timesteps[torch.randint(0, 1000, (4,))].to(dev)
    schedule = timesteps.to(dev)
    sigma = sigmas.to(dev)[[(schedule == one).nonzero().item() for one in t]].view(-1, 1, 1, 1)
    x, noise = torch.randn(4, 4, 16, 16, device=dev), torch.randn(4, 4, 16, 16, device=dev)
    loss = (net((1 - sigma) * x + sigma * noise) - (noise - x)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
