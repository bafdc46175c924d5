# Window attention with a relative bias, rolled windows and a mask
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Window(nn.Module):
    def __init__(self, d=32, shift=0):
        super().__init__()
        self.qkv, self.out, self.bias, self.shift = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Parameter(torch.zeros(49, 2)), shift
        y, x = torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")
        at = torch.stack([y, x]).flatten(1)
        gap = (at[:, :, None] - at[:, None] + 3).permute(1, 2, 0)
        self.register_buffer("index", gap[..., 0] * 7 + gap[..., 1])
    def forward(self, x):
        n = x.size(0)
        x = x.roll((-self.shift, -self.shift), (1, 2)).view(n, 4, 4, 4, 4, -1).transpose(2, 3).reshape(n * 16, 16, -1)
        q, k, v = self.qkv(x).view(-1, 16, 3, 2, 16).permute(2, 0, 3, 1, 4)
        score = q @ k.transpose(-1, -2) / 4 + self.bias[self.index].permute(2, 0, 1)
        x = self.out((score.softmax(-1) @ v).transpose(1, 2).flatten(2))
        return x.view(n, 4, 4, 4, 4, -1).transpose(2, 3).reshape(n, 16, 16, -1).roll((self.shift, self.shift), (1, 2))
model = nn.Sequential(Window(), nn.LayerNorm(32), Window(shift=2)).to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(2, 16, 16, 32, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
