# A contractive autoencoder: the Jacobian of the encoder by vmap(jacrev) is part of the loss
# packages: torch
# saved: torch.func
import torch
from torch import nn
from torch.func import functional_call, jacrev, vmap
dev = "cuda" if torch.cuda.is_available() else "cpu"
enc, dec = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4)).to(dev), nn.Linear(4, 16).to(dev)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
for _ in range(4):
    x = torch.randn(8, 16, device=dev)
    jacobian = vmap(jacrev(lambda one: functional_call(enc, dict(enc.named_parameters()), (one,))))(x)
    loss = (dec(enc(x)) - x).square().mean() + 0.1 * jacobian.square().sum((1, 2)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
