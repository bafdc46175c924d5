# CLIP: an image tower and a text tower, a learned temperature
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(nn.Conv2d(3, 64, 8, 8), nn.Flatten(2), nn.Linear(16, 16), nn.Flatten(), nn.Linear(1024, 64))
        self.words = nn.Embedding(1000, 64)
        self.text = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 2, 128, dropout=0.0, batch_first=True), 2, enable_nested_tensor=False)
        self.scale = nn.Parameter(torch.tensor(2.65))
    def forward(self, images, ids):
        a = nn.functional.normalize(self.image(images), dim=-1)
        b = nn.functional.normalize(self.text(self.words(ids))[torch.arange(len(ids), device=ids.device), ids.argmax(-1)], dim=-1)
        return self.scale.exp() * a @ b.T
model = Clip().to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    logits = model(torch.randn(8, 3, 32, 32, device=dev), torch.randint(0, 1000, (8, 16), device=dev))
    y = torch.arange(8, device=dev)
    ((nn.functional.cross_entropy(logits, y) + nn.functional.cross_entropy(logits.T, y)) / 2).backward()
    opt.step()
    opt.zero_grad()
    with torch.no_grad():
        model.scale.clamp_(0, 4.6)
