# A switch layer with a fixed capacity: dispatch and combine by einsum, a balance loss
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Switch(nn.Module):
    def __init__(self, d=64, e=4, capacity=48):
        super().__init__()
        self.route, self.capacity = nn.Linear(d, e), capacity
        self.up, self.down = nn.Parameter(torch.randn(e, d, 128) * 0.05), nn.Parameter(torch.randn(e, 128, d) * 0.05)
    def forward(self, x):
        p = self.route(x).softmax(-1)
        one = nn.functional.one_hot(p.argmax(-1), 4)
        place = (one.cumsum(0) - 1) * one
        keep = one * (place < self.capacity)
        send = keep[..., None] * nn.functional.one_hot(place.clamp(max=self.capacity - 1), self.capacity)
        send = send.to(x.dtype)
        h = torch.einsum("tec,td->ecd", send, x)
        h = torch.einsum("ech,ehd->ecd", torch.einsum("ecd,edh->ech", h, self.up).relu(), self.down)
        out = torch.einsum("tec,ecd->td", send * p[..., None], h)
        return x + out, (one.float().mean(0) * p.mean(0)).sum() * 4
model = Switch().to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    out, balance = model(torch.randn(128, 64, device=dev))
    (out.square().mean() + 0.01 * balance).backward()
    opt.step()
    opt.zero_grad()
