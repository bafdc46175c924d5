# MoCo: a momentum encoder and a queue of keys in a buffer
# packages: torch
import copy, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class MoCo(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 32))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.register_buffer("queue", nn.functional.normalize(torch.randn(32, 512), dim=0))
        self.place = 0
    def forward(self, a, b):
        q = nn.functional.normalize(self.query(a), dim=1)
        with torch.no_grad():
            for k, p in zip(self.key.parameters(), self.query.parameters()):
                k.mul_(0.999).add_(p, alpha=0.001)
            k = nn.functional.normalize(self.key(b), dim=1)
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ self.queue.clone()], 1) / 0.07
        self.queue[:, self.place:self.place + len(k)] = k.T
        self.place = (self.place + len(k)) % 512
        return nn.functional.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long, device=q.device))
model = MoCo().to(dev)
opt = torch.optim.SGD(model.query.parameters(), lr=0.03, momentum=0.9)
for _ in range(4):
    x = torch.randn(32, 64, device=dev)
    opt.zero_grad()
    model(x, x + 0.1).backward()
    opt.step()
