# torch.optim.Adafactor: factored second moments
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Embedding(1000, 128), nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 1000)).to(dev)
opt = torch.optim.Adafactor(model.parameters())
for _ in range(4):
    ids = torch.randint(0, 1000, (4, 33), device=dev)
    nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()).backward()
    opt.step()
    opt.zero_grad()
