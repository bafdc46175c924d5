# DETR: queries matched to targets by the Hungarian method on the host
# packages: torch, scipy
import torch
from scipy.optimize import linear_sum_assignment
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Detr(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.stem, self.queries = nn.Conv2d(3, d, 8, 8), nn.Parameter(torch.randn(10, d))
        self.layer = nn.TransformerDecoderLayer(d, 4, 128, dropout=0.0, batch_first=True)
        self.kind, self.box = nn.Linear(d, 5), nn.Linear(d, 4)
    def forward(self, x):
        h = self.layer(self.queries.expand(len(x), -1, -1), self.stem(x).flatten(2).transpose(1, 2))
        return self.kind(h), self.box(h).sigmoid()
model = Detr().to(dev)
opt = torch.optim.AdamW(model.parameters())
labels, boxes = torch.tensor([1, 3, 0], device=dev), torch.rand(3, 4, device=dev)
for _ in range(4):
    kinds, places = model(torch.randn(2, 3, 32, 32, device=dev))
    loss = 0
    for kind, place in zip(kinds, places):
        cost = torch.cdist(place, boxes, p=1) - kind.softmax(-1)[:, labels]
        rows, columns = linear_sum_assignment(cost.detach().cpu())
        target = torch.full((10,), 4, device=dev)
        target[rows] = labels[columns]
        loss = loss + nn.functional.cross_entropy(kind, target) + nn.functional.l1_loss(place[rows], boxes[columns])
    opt.zero_grad()
    loss.backward()
    opt.step()
