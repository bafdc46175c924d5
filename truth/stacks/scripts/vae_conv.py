# A convolutional VAE with the reparameterization by torch.distributions
# packages: torch
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
dev = "cuda" if torch.cuda.is_available() else "cpu"
enc = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(512, 32)).to(dev)
dec = nn.Sequential(nn.Linear(16, 512), nn.ReLU(), nn.Unflatten(1, (32, 4, 4)), nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1)).to(dev)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
for _ in range(4):
    x = torch.rand(16, 1, 16, 16, device=dev)
    mean, log = enc(x).chunk(2, 1)
    q = Normal(mean, (0.5 * log).exp())
    loss = nn.functional.binary_cross_entropy_with_logits(dec(q.rsample()), x, reduction="sum") + kl_divergence(q, Normal(0, 1)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
