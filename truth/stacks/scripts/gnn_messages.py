# Message passing by index_add over an edge list, two layers
# packages: torch
# bound: a mask chooses rows
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Layer(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.msg, self.own = nn.Linear(2 * a, b), nn.Linear(a, b)
    def forward(self, x, edges):
        m = self.msg(torch.cat([x[edges[0]], x[edges[1]]], -1)).relu()
        count = torch.zeros(len(x), 1, device=x.device).index_add_(0, edges[1], torch.ones(edges.size(1), 1, device=x.device)).clamp_(min=1)
        return self.own(x) + torch.zeros(len(x), m.size(1), device=x.device).index_add(0, edges[1], m) / count
a, b = Layer(32, 64).to(dev), Layer(64, 7).to(dev)
opt = torch.optim.Adam([*a.parameters(), *b.parameters()])
x, edges, y = torch.randn(200, 32, device=dev), torch.randint(0, 200, (2, 1000)).to(dev), torch.randint(0, 7, (200,), device=dev)
train = torch.arange(200) % 2 == 0
for _ in range(4):
    out = b(a(x, edges).relu(), edges)
    loss = nn.functional.cross_entropy(out[train.to(dev)], y[train.to(dev)])
    opt.zero_grad()
    loss.backward()
    opt.step()
