# A mixture whose experts are a loop over the tokens of each (nonzero); all experts see every token at most
# packages: torch
# bound: sizes depend on values
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Mixture(nn.Module):
    def __init__(self, d=64, e=4):
        super().__init__()
        self.route, self.experts = nn.Linear(d, e), nn.ModuleList(nn.Sequential(nn.Linear(d, 128), nn.SiLU(), nn.Linear(128, d)) for _ in range(e))
    def forward(self, x):
        weight, chosen = self.route(x).softmax(-1).topk(2, -1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            token, place = torch.where(chosen == i)
            out.index_add_(0, token, expert(x[token]) * weight[token, place, None])
        return out
model = Mixture().to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(64, 64, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
