# torch_geometric: batches of small graphs, GIN, global pooling
# packages: torch_geometric
import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
graphs = [Data(x=torch.randn(10, 16), edge_index=torch.randint(0, 10, (2, 30)), y=torch.tensor([i % 3])) for i in range(64)]
conv, out = GINConv(nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64))).to(dev), nn.Linear(64, 3).to(dev)
opt = torch.optim.Adam([*conv.parameters(), *out.parameters()])
for batch in DataLoader(graphs, batch_size=16):
    batch = batch.to(dev)
    loss = nn.functional.cross_entropy(out(global_add_pool(conv(batch.x, batch.edge_index), batch.batch, 16)), batch.y)
    opt.zero_grad()
    loss.backward()
    opt.step()
