# Autocast to fp16 with GradScaler, unscaling before the clipping
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 256)).to(dev)
opt, scaler = torch.optim.Adam(model.parameters()), torch.amp.GradScaler(dev)
for _ in range(4):
    x = torch.randn(64, 256, device=dev)
    with torch.autocast(dev, torch.float16):
        loss = nn.functional.mse_loss(model(x), x)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
