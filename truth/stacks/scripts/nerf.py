# A NeRF-like MLP: encoded points along rays, volume rendering by a cumulative product
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
def encode(x):
    bands = 2.0 ** torch.arange(6, device=x.device)
    return torch.cat([x, *((x[..., None] * bands).flatten(-2)).sin().split(18, -1), (x[..., None] * bands).flatten(-2).cos()], -1)
model = nn.Sequential(nn.Linear(39, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4)).to(dev)
opt = torch.optim.Adam(model.parameters(), 5e-4)
for _ in range(4):
    start, way = torch.randn(64, 3, device=dev), nn.functional.normalize(torch.randn(64, 3, device=dev), dim=-1)
    depth = torch.linspace(2, 6, 32, device=dev)
    out = model(encode(start[:, None] + way[:, None] * depth[:, None]))
    alpha = 1 - torch.exp(-out[..., 3].relu() * (4 / 32))
    weight = alpha * torch.cumprod(torch.cat([torch.ones(64, 1, device=dev), 1 - alpha + 1e-10], -1), -1)[:, :-1]
    loss = ((weight[..., None] * out[..., :3].sigmoid()).sum(1) - torch.rand(64, 3, device=dev)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
