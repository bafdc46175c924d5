# A selective state-space layer, its scan a loop over time
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Mamba(nn.Module):
    def __init__(self, d=64, n=8):
        super().__init__()
        self.inp, self.conv, self.bcd, self.out = nn.Linear(d, 2 * d), nn.Conv1d(d, d, 4, padding=3, groups=d), nn.Linear(d, 2 * n + d), nn.Linear(d, d)
        self.log = nn.Parameter(torch.arange(1.0, n + 1).log().repeat(d, 1))
    def forward(self, x):
        u, gate = self.inp(x).chunk(2, -1)
        u = nn.functional.silu(self.conv(u.transpose(1, 2))[..., :x.size(1)].transpose(1, 2))
        b, c, dt = self.bcd(u).split([8, 8, 64], -1)
        dt = nn.functional.softplus(dt)
        decay, add = torch.exp(dt[..., None] * -self.log.exp()), (dt * u)[..., None] * b[:, :, None]
        h, outs = torch.zeros_like(add[:, 0]), []
        for t in range(x.size(1)):
            h = decay[:, t] * h + add[:, t]
            outs.append((h * c[:, t, None]).sum(-1))
        return x + self.out(torch.stack(outs, 1) * nn.functional.silu(gate))
model = nn.Sequential(Mamba(), nn.LayerNorm(64), Mamba()).to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(2, 16, 64, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
