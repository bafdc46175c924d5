# torch.nn.utils.prune: a mask in a buffer, recomputed weight in a hook
# packages: torch
import torch
from torch import nn
from torch.nn.utils import prune
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)).to(dev)
for layer in (model[0], model[2]):
    prune.random_unstructured(layer, "weight", amount=0.5)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(4):
    nn.functional.cross_entropy(model(torch.randn(32, 64, device=dev)), torch.randint(0, 10, (32,), device=dev)).backward()
    opt.step()
    opt.zero_grad()
