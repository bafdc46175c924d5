# pytorch-metric-learning: a miner and a triplet loss
# packages: pytorch-metric-learning
# bound: sizes depend on values
import torch
from pytorch_metric_learning import losses, miners
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 16)).to(dev)
opt, mine, loss_of = torch.optim.Adam(model.parameters()), miners.TripletMarginMiner(type_of_triplets="semihard"), losses.TripletMarginLoss()
for _ in range(4):
    y = torch.arange(24, device=dev) % 6
    out = model(torch.randn(24, 32, device=dev))
    loss = loss_of(out, y, mine(out, y))
    opt.zero_grad()
    loss.backward()
    opt.step()
