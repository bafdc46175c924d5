# Autocast to bf16, a residual network with batch norm, channels_last, AdamW fused, parameter groups
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.m, self.n = nn.BatchNorm2d(c), nn.BatchNorm2d(c)
    def forward(self, x):
        return (x + self.n(self.b(self.m(self.a(x)).relu()))).relu()
model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), Block(32), Block(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).to(dev, memory_format=torch.channels_last)
flat = [p for p in model.parameters() if p.ndim < 2]
opt = torch.optim.AdamW([{"params": flat, "weight_decay": 0.0}, {"params": [p for p in model.parameters() if p.ndim > 1]}], fused=True)
for _ in range(4):
    x = torch.randn(16, 3, 32, 32, device=dev).to(memory_format=torch.channels_last)
    with torch.autocast(dev, torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), torch.randint(0, 10, (16,), device=dev), label_smoothing=0.1)
    loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
