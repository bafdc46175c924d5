# A graph convolution by torch.sparse.mm with a fixed adjacency
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
edges = torch.stack([torch.arange(300) % 100, (torch.arange(300) * 7 + 1) % 100])
adjacency = torch.sparse_coo_tensor(edges, torch.full((300,), 1 / 3), (100, 100)).to(dev)
first, second = nn.Linear(32, 64).to(dev), nn.Linear(64, 5).to(dev)
opt = torch.optim.Adam([*first.parameters(), *second.parameters()])
x, y = torch.randn(100, 32, device=dev), torch.randint(0, 5, (100,), device=dev)
for _ in range(4):
    h = torch.sparse.mm(adjacency, first(x)).relu()
    loss = nn.functional.cross_entropy(torch.sparse.mm(adjacency, second(h)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
