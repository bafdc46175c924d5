# An exponential average of the weights and a SWA average, both from torch.optim.swa_utils
# packages: torch
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, SWALR, get_ema_multi_avg_fn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(64, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 10)).to(dev)
ema, swa = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99), use_buffers=True), AveragedModel(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = SWALR(opt, swa_lr=0.05)
for _ in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(32, 64, device=dev)), torch.randint(0, 10, (32,), device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update_parameters(model)
    swa.update_parameters(model)
    schedule.step()
