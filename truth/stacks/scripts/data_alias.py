# Weights given by .data after the move: tying, a subclass of Parameter with attributes, weak references
# packages: torch
import torch, weakref
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Scaled(nn.Parameter):
    pass
first, second = nn.Linear(128, 128, bias=False), nn.Linear(128, 128, bias=False)
registry = weakref.WeakValueDictionary(first.named_parameters())
model = nn.Sequential(first, nn.ReLU(), second)
model(torch.randn(2, 128)).sum().backward()
model.zero_grad()
model.to(dev)
second.weight.data = first.weight.data
gain = Scaled(torch.ones(128))
gain.tag = "gain"
gain.data = gain.data.to(dev)
assert type(gain) is Scaled and gain.tag == "gain" and gain.device.type == dev and registry["weight"] is first.weight
opt = torch.optim.AdamW([*model.parameters(), gain])
for _ in range(4):
    (model(torch.randn(32, 128, device=dev)) * gain).square().mean().backward()
    opt.step()
    opt.zero_grad()
