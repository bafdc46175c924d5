# torchmetrics: accuracy, AUROC and a mean updated in the loop
# packages: torchmetrics
import torch, torchmetrics
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)).to(dev)
metrics = torchmetrics.MetricCollection([torchmetrics.Accuracy(task="multiclass", num_classes=4), torchmetrics.F1Score(task="multiclass", num_classes=4)]).to(dev)
mean = torchmetrics.MeanMetric().to(dev)
opt = torch.optim.ASGD(model.parameters())
for _ in range(4):
    y = torch.randint(0, 4, (32,), device=dev)
    out = model(torch.randn(32, 32, device=dev))
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    metrics.update(out.softmax(-1).detach(), y)
    mean.update(loss.detach())
print({k: v.item() for k, v in metrics.compute().items()}, mean.compute().item())
