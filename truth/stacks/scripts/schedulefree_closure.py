# schedulefree: SGDScheduleFreeClosure, whose step runs the pass
# packages: schedulefree
import schedulefree, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).to(dev)
opt = schedulefree.SGDScheduleFreeClosure(model.parameters(), lr=0.1)
for _ in range(4):
    x, y = torch.randn(32, 128, device=dev), torch.randint(0, 10, (32,), device=dev)
    def closure():
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss
    opt.step(closure=closure)
