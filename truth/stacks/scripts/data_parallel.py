# nn.DataParallel around a convolutional network, its state saved through .module
# packages: torch
import io, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(256, 10))
model = nn.DataParallel(net).to(dev)
criterion = nn.CrossEntropyLoss().to(dev)
opt = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.9)
schedule = torch.optim.lr_scheduler.SequentialLR(opt, [torch.optim.lr_scheduler.LinearLR(opt, 0.1, total_iters=2), torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 2)], [2])
for _ in range(4):
    x, y = torch.randn(32, 3, 16, 16), torch.randint(0, 10, (32,))
    loss = criterion(model(x.to(dev, non_blocking=True)), y.to(dev, non_blocking=True))
    opt.zero_grad(set_to_none=False)
    loss.backward()
    opt.step()
    schedule.step()
torch.save({"model": model.module.state_dict(), "opt": opt.state_dict(), "lr": schedule.get_last_lr()}, io.BytesIO())
