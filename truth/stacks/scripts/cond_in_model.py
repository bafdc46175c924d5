# torch.cond inside of a model: one of two branches by a value of the data
# packages: torch
# saved: torch.cond (whose backward runs its branch again)
# expect: fwd_flops = 2*32*64*64 + 2*32*64*8
# expect: bwd_flops = 2*2*32*64*64 + 2*2*32*64*8
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 8)
    def forward(self, x):
        return self.out(torch.cond(x.sum() > 0, lambda t: self.a(t).relu(), lambda t: self.b(t).relu(), (x,)))
model = Gated().to(dev)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    model(torch.rand(32, 64, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
