# Forward and backward inside of optimizer.step(closure), with clipping there
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(dev)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
for _ in range(4):
    x = torch.randn(32, 256, device=dev)
    def closure():
        opt.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(x), x)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return loss
    opt.step(closure)
