# schedulefree: AdamWScheduleFree, train() and eval() around the steps
# packages: schedulefree
import schedulefree, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).to(dev)
opt = schedulefree.AdamWScheduleFree(model.parameters(), lr=1e-3, warmup_steps=2)
opt.train()
for _ in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(32, 128, device=dev)), torch.randint(0, 10, (32,), device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
opt.eval()
