# Linear attention in chunks with a carried state
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Linear(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
    def forward(self, x):
        q, k, v = (t.unflatten(-1, (2, 32)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        state, outs = torch.zeros(x.size(0), 2, 32, 32, device=x.device), []
        causal = torch.ones(16, 16, device=x.device).tril()
        for a, b, c in zip(q.split(16, 2), k.split(16, 2), v.split(16, 2)):
            outs.append(a @ state + (a @ b.transpose(-1, -2) * causal) @ c)
            state = state + b.transpose(-1, -2) @ c
        return self.out(torch.cat(outs, 2).transpose(1, 2).flatten(2))
model = Linear().to(dev)
opt = torch.optim.RAdam(model.parameters())
for _ in range(4):
    model(torch.randn(2, 64, 64, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
