# A detector's loss: boxes given as lists, checked, matched to anchors by IoU
# packages: torch
# bound: sizes depend on values
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Conv2d(3, 16, 3, 4, 1), nn.ReLU(), nn.Conv2d(16, 5, 1)).to(dev)
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
y, x = torch.meshgrid(torch.arange(0, 64, 4, device=dev), torch.arange(0, 64, 4, device=dev), indexing="ij")
anchors = torch.stack([x, y, x + 8, y + 8], -1).view(-1, 4).float()
for _ in range(4):
    boxes = torch.tensor([[8.0, 8.0, 20.0, 20.0], [30.0, 40.0, 44.0, 60.0]], device=dev)
    if (boxes[:, 2:] <= boxes[:, :2]).any():
        raise ValueError(f"a box without area: {boxes.tolist()}")
    out = net(torch.randn(1, 3, 64, 64, device=dev)).flatten(2)[0].T
    wh = (torch.min(anchors[:, None, 2:], boxes[:, 2:]) - torch.max(anchors[:, None, :2], boxes[:, :2])).clamp(min=0)
    best, which = (wh.prod(-1) / ((anchors[:, 2:] - anchors[:, :2]).prod(-1)[:, None] + 1e-6)).max(1)
    positive = torch.where(best > 0.5)[0]
    loss = nn.functional.binary_cross_entropy_with_logits(out[:, 4], (best > 0.5).float())
    loss = loss + nn.functional.smooth_l1_loss(out[positive, :4], boxes[which[positive]])
    opt.zero_grad()
    loss.backward()
    opt.step()
