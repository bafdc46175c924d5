# torch_geometric: GATv2 and GCN on one graph, masks for training
# packages: torch_geometric
# bound: sizes depend on values
import torch
from torch_geometric.nn import GATv2Conv, GCNConv
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = GATv2Conv(32, 16, heads=4), GCNConv(64, 7)
    def forward(self, x, edges):
        return self.b(self.a(x, edges).relu(), edges)
model = Net().to(dev)
opt = torch.optim.Adam(model.parameters(), weight_decay=5e-4)
x, edges, y = torch.randn(200, 32, device=dev), (torch.arange(1800) * 7 % 200).view(2, 900).to(dev), torch.randint(0, 7, (200,), device=dev)
train = (torch.arange(200) < 140).to(dev)
for _ in range(4):
    loss = torch.nn.functional.cross_entropy(model(x, edges)[train], y[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
