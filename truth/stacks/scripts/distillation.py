# A frozen teacher in evaluation mode and a student with the same module names
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
def net(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10)).to(dev)
teacher, student = net(1024).eval().requires_grad_(False), net(64)
opt = torch.optim.Adam(student.parameters())
for _ in range(4):
    x, y = torch.randn(64, 64, device=dev), torch.randint(0, 10, (64,), device=dev)
    with torch.no_grad():
        soft = (teacher(x) / 4).softmax(-1)
    out = student(x)
    loss = nn.functional.cross_entropy(out, y) + nn.functional.kl_div((out / 4).log_softmax(-1), soft, reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
