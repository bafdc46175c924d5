# SimCLR: two views, NT-Xent loss over the whole batch, the diagonal masked
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32)).to(dev)
opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
for _ in range(4):
    x = torch.randn(16, 3, 16, 16, device=dev)
    z = nn.functional.normalize(model(torch.cat([x, x.flip(-1)])), dim=1)
    sim = (z @ z.T / 0.1).masked_fill(torch.eye(32, dtype=torch.bool, device=dev), float("-inf"))
    target = torch.arange(32, device=dev).roll(16)
    loss = nn.functional.cross_entropy(sim, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
