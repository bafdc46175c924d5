# opacus: a GradSampleModule and DPOptimizer
# packages: opacus
import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = GradSampleModule(nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 10)).to(dev))
opt = DPOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=16)
for _ in range(4):
    nn.functional.cross_entropy(model(torch.randn(16, 3, 16, 16, device=dev)), torch.randint(0, 10, (16,), device=dev)).backward()
    opt.step()
    opt.zero_grad()
