# A normalizing flow of affine couplings, trained by likelihood
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Coupling(nn.Module):
    def __init__(self, d, flip):
        super().__init__()
        self.flip, self.net = flip, nn.Sequential(nn.Linear(d // 2, 128), nn.ReLU(), nn.Linear(128, d))
    def forward(self, x):
        a, b = x.flip(-1).chunk(2, -1) if self.flip else x.chunk(2, -1)
        s, t = self.net(a).chunk(2, -1)
        return torch.cat([a, b * s.tanh().exp() + t], -1), s.tanh().sum(-1)
layers = nn.ModuleList(Coupling(16, i % 2 == 1) for i in range(4)).to(dev)
opt = torch.optim.Adamax(layers.parameters())
for _ in range(4):
    x, log = torch.randn(128, 16, device=dev), 0
    for layer in layers:
        x, more = layer(x)
        log = log + more
    loss = (0.5 * x.square().sum(-1) - log).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
