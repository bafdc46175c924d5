# Mixture of experts: tokens sorted by expert, grouped products with offsets of a bincount
# packages: torch
import torch
from torch import nn
import torch.nn.functional as F
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Experts(nn.Module):
    def __init__(self, d=128, h=256, e=8):
        super().__init__()
        self.route = nn.Linear(d, e, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(e, d, h) * 0.05), nn.Parameter(torch.randn(e, h, d) * 0.05)
    def forward(self, x):
        weight, index = self.route(x).float().softmax(-1).topk(2, -1)
        order = index.flatten().argsort(stable=True)
        ends = torch.bincount(index.flatten(), minlength=8).cumsum(0).to(torch.int32)
        h = F.grouped_mm(F.gelu(F.grouped_mm(x[order // 2], self.up, offs=ends)), self.down, offs=ends)
        return x.index_add(0, order // 2, h * weight.flatten()[order, None].to(x.dtype))
model = Experts().to(dev).bfloat16()
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(256, 128, device=dev, dtype=torch.bfloat16)).square().mean().backward()
    opt.step()
    opt.zero_grad()
