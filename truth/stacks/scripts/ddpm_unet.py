# DDPM: a small U-Net with a time embedding, the schedule on the device
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class UNet(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(c, c), nn.SiLU(), nn.Linear(c, c))
        self.a, self.b, self.c = nn.Conv2d(3, c, 3, padding=1), nn.Conv2d(c, c, 3, 2, 1), nn.Conv2d(c, c, 3, padding=1)
        self.norm, self.out = nn.GroupNorm(8, c), nn.Conv2d(2 * c, 3, 3, padding=1)
    def forward(self, x, t):
        w = torch.exp(torch.arange(16, device=x.device) * -0.5)
        e = self.time(torch.cat([(t[:, None] * w).sin(), (t[:, None] * w).cos()], 1))
        a = self.a(x)
        m = self.c(nn.functional.silu(self.norm(self.b(a) + e[:, :, None, None])))
        return self.out(torch.cat([a, nn.functional.interpolate(m, scale_factor=2)], 1))
model = UNet().to(dev)
opt = torch.optim.AdamW(model.parameters())
alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000, device=dev), 0)
for _ in range(4):
    x, t = torch.randn(8, 3, 16, 16, device=dev), torch.randint(0, 1000, (8,), device=dev)
    noise, a = torch.randn_like(x), alphas[t][:, None, None, None]
    loss = nn.functional.mse_loss(model(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
