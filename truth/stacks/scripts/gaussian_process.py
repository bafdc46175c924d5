# A Gaussian process: kernel parameters by the marginal likelihood (Cholesky factor, triangular solve, log-determinant)
# packages: torch
import math, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
features = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2)).to(dev)
scale, noise = (nn.Parameter(torch.zeros((), device=dev)) for _ in range(2))
x, y = torch.randn(256, 8, device=dev), torch.randn(256, 1, device=dev)
opt = torch.optim.Adam([*features.parameters(), scale, noise], lr=0.01)
for _ in range(4):
    z = features(x)
    kernel = scale.exp() * torch.exp(-0.5 * torch.cdist(z, z).square()) + (noise.exp() + 1e-3) * torch.eye(256, device=dev)
    factor = torch.linalg.cholesky(kernel)
    alpha = torch.linalg.solve_triangular(factor, y, upper=False)
    loss = 0.5 * alpha.square().sum() + factor.diagonal().log().sum() + 128 * math.log(2 * math.pi)
    opt.zero_grad()
    loss.backward()
    opt.step()
