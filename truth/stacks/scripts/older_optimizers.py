# Rprop, Adadelta, Adamax, Adagrad and RAdam, one for each layer, without foreach
# packages: torch
# updates: 5
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(*[m for _ in range(5) for m in (nn.Linear(64, 64), nn.ELU())]).to(dev)
kinds = (torch.optim.Rprop, torch.optim.Adadelta, torch.optim.Adamax, torch.optim.Adagrad, torch.optim.RAdam)
opts = [kind(layer.parameters(), foreach=False, maximize=False) for kind, layer in zip(kinds, model[::2])]
for _ in range(4):
    loss = nn.functional.huber_loss(model(torch.randn(32, 64, device=dev)), torch.randn(32, 64, device=dev))
    for opt in opts:
        opt.zero_grad()
    loss.backward()
    for opt in opts:
        opt.step()
