# Adam inside of backward: an optimizer for each parameter, stepped by its hook
# packages: torch
# updates: 4
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 64)).to(dev)
optimizers = {p: torch.optim.AdamW([p], lr=1e-3) for p in model.parameters()}
def update(p):
    optimizers[p].step()
    optimizers[p].zero_grad()
for p in model.parameters():
    p.register_post_accumulate_grad_hook(update)
for _ in range(4):
    nn.functional.cross_entropy(model(torch.randn(64, 128, device=dev)), torch.randint(0, 64, (64,), device=dev)).backward()
