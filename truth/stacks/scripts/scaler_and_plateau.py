# GradScaler whose scale is compared to find skipped steps, ReduceLROnPlateau on the loss, Adam with a tensor for its rate
# packages: torch
# expect: saved_bytes = 151040 + 4
# expect: optimizer_bytes = 208908 + 6*4
# why: the CPU's, the loss scale and the counters of steps, which a capturable Adam keeps on the device; a rate in a tensor is 0 on a stub driver, and refused
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.BatchNorm1d(256), nn.Linear(256, 1)).to(dev)
opt = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-3, device=dev), amsgrad=True, capturable=dev == "cuda")
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, (step + 1) / 10))
scaler = torch.amp.GradScaler(dev, init_scale=2.0**10, enabled=dev == "cuda")
for step in range(4):
    x, y = torch.randn(128, 64, device=dev), torch.randn(128, 1, device=dev)
    with torch.autocast(dev, torch.float16 if dev == "cuda" else torch.bfloat16):
        loss = nn.functional.mse_loss(model(x).float(), y)
    scaler.scale(loss).backward()
    scale = scaler.get_scale()
    scaler.unscale_(opt)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
    if scaler.get_scale() >= scale:
        warm.step()
    plateau.step(loss.item())
    print(f"{step} {loss.item():.4f} {norm.item():.3f}")
