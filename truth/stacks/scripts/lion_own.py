# Lion, written by hand with foreach functions, and a cosine schedule by LambdaLR
# packages: torch
import math, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.1):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            grads = [p.grad for p in params]
            means = [self.state[p].setdefault("mean", torch.zeros_like(p)) for p in params]
            torch._foreach_mul_(params, 1 - group["lr"] * group["weight_decay"])
            ways = torch._foreach_lerp(grads, means, group["betas"][0])
            torch._foreach_sign_(ways)
            torch._foreach_add_(params, ways, alpha=-group["lr"])
            torch._foreach_lerp_(means, grads, 1 - group["betas"][1])
model = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)).to(dev)
opt = Lion(model.parameters())
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: 0.5 * (1 + math.cos(i / 10)))
for _ in range(4):
    model(torch.randn(32, 128, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
    schedule.step()
