# prodigyopt: Prodigy, whose step size is read on the host
# packages: prodigyopt
# expect: optimizer_bytes = 4*4*(128*256 + 256 + 256*10 + 10)
# why: a GPU that computes nothing reads zeros in the weights, and Prodigy then keeps no copy of them
import torch
from prodigyopt import Prodigy
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).to(dev)
opt = Prodigy(model.parameters(), lr=1.0, weight_decay=0.01, safeguard_warmup=True)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
for _ in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(32, 128, device=dev)), torch.randint(0, 10, (32,), device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
