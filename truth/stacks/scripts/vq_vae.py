# VQ-VAE: nearest codes by cdist, straight-through gradient
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec, self.codes = nn.Conv2d(3, 32, 4, 4), nn.ConvTranspose2d(32, 3, 4, 4), nn.Embedding(128, 32)
    def forward(self, x):
        z = self.enc(x).permute(0, 2, 3, 1)
        flat = z.reshape(-1, 32)
        near = (flat.square().sum(1, keepdim=True) - 2 * flat @ self.codes.weight.T + self.codes.weight.square().sum(1)).argmin(1)
        q = self.codes(near).view(z.shape)
        loss = (q.detach() - z).square().mean() * 0.25 + (q - z.detach()).square().mean()
        return self.dec((z + (q - z).detach()).permute(0, 3, 1, 2)), loss
model = VQ().to(dev)
opt = torch.optim.Adam(model.parameters())
for _ in range(4):
    x = torch.randn(8, 3, 32, 32, device=dev)
    out, loss = model(x)
    (loss + nn.functional.mse_loss(out, x)).backward()
    opt.step()
    opt.zero_grad()
