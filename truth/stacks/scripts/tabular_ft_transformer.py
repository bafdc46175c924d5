# A transformer over columns: numbers and categories as tokens, plain attention, dropout off
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Tabular(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.w, self.b, self.cls = nn.Parameter(torch.randn(6, d)), nn.Parameter(torch.randn(6, d)), nn.Parameter(torch.randn(1, 1, d))
        self.kinds = nn.ModuleList(nn.Embedding(n, d) for n in (5, 12, 3))
        self.attention, self.mlp, self.out = nn.MultiheadAttention(d, 4, batch_first=True), nn.Sequential(nn.Linear(d, 64), nn.GLU(), nn.Linear(32, d)), nn.Linear(d, 1)
    def forward(self, numbers, kinds):
        x = torch.cat([self.cls.expand(len(numbers), -1, -1), numbers[..., None] * self.w + self.b, *(e(k)[:, None] for e, k in zip(self.kinds, kinds.T))], 1)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return self.out((x + self.mlp(x))[:, 0]).squeeze(1)
model = Tabular().to(dev)
opt = torch.optim.AdamW(model.parameters(), weight_decay=1e-5)
for _ in range(4):
    out = model(torch.randn(64, 6, device=dev), torch.randint(0, 3, (64, 3), device=dev))
    loss = nn.functional.huber_loss(out, torch.randn(64, device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
