# A masked autoencoder: patches shuffled by noise, a quarter kept, the rest restored
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class MAE(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.patch, self.mask, self.place = nn.Linear(48, d), nn.Parameter(torch.zeros(1, 1, d)), nn.Parameter(torch.randn(1, 64, d) * 0.02)
        layer = lambda: nn.TransformerEncoderLayer(d, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.enc, self.dec, self.out = layer(), layer(), nn.Linear(d, 48)
    def forward(self, x):
        order = torch.rand(x.shape[:2], device=x.device).argsort(1)
        back, kept = order.argsort(1), order[:, :16]
        h = self.patch(x) + self.place
        h = self.enc(h.gather(1, kept[..., None].expand(-1, -1, h.size(-1))))
        h = torch.cat([h, self.mask.expand(len(x), 48, -1)], 1).gather(1, back[..., None].expand(-1, -1, h.size(-1)))
        hidden = (back >= 16).float()
        return ((self.out(self.dec(h + self.place)) - x).square().mean(-1) * hidden).sum() / hidden.sum()
model = MAE().to(dev)
opt = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.95))
for _ in range(4):
    loss = model(torch.randn(8, 64, 48, device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
