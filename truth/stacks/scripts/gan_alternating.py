# DCGAN: discriminator and generator with an optimizer each, in turn
# packages: torch
# updates: 2
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
G = nn.Sequential(nn.ConvTranspose2d(32, 32, 4), nn.BatchNorm2d(32), nn.ReLU(), nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh()).to(dev)
D = nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 1, 4), nn.Flatten()).to(dev)
og, od = (torch.optim.Adam(m.parameters(), 2e-4, betas=(0.5, 0.999)) for m in (G, D))
bce = nn.BCEWithLogitsLoss()
for _ in range(4):
    real, noise = torch.randn(16, 3, 8, 8, device=dev), torch.randn(16, 32, 1, 1, device=dev)
    one, zero = torch.ones(16, 1, device=dev), torch.zeros(16, 1, device=dev)
    fake = G(noise)
    od.zero_grad()
    (bce(D(real), one) + bce(D(fake.detach()), zero)).backward()
    od.step()
    og.zero_grad()
    bce(D(fake), one).backward()
    og.step()
