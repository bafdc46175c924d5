# A plain loop: DataLoader, SGD with momentum, OneCycleLR, clipping, the loss printed
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
data = torch.utils.data.TensorDataset(torch.randn(128, 3, 16, 16), torch.randint(0, 10, (128,)))
model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 10)).to(dev)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=8)
for step, (x, y) in enumerate(torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)):
    loss = nn.functional.cross_entropy(model(x.to(dev)), y.to(dev))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    schedule.step()
    print(step, loss.item())
