# L-BFGS: two evaluations a step, history in the state
# packages: torch
# arguments: --step 3
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 1)).to(dev)
x = torch.randn(256, 64, device=dev)
y = x.sin().sum(1, keepdim=True)
opt = torch.optim.LBFGS(model.parameters(), max_iter=2, history_size=4)
def closure():
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss
for _ in range(4):
    opt.step(closure)
