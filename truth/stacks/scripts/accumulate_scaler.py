# Four micro-batches a step, GradScaler, the loss divided
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).to(dev)
opt, scaler = torch.optim.AdamW(model.parameters()), torch.amp.GradScaler(dev)
for i in range(16):
    with torch.autocast(dev, torch.float16):
        loss = nn.functional.cross_entropy(model(torch.randn(32, 256, device=dev)), torch.randint(0, 10, (32,), device=dev)) / 4
    scaler.scale(loss).backward()
    if i % 4 == 3:
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
