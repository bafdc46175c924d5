# SAM whose step takes a closure: the first pass before step, the second inside it
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **options):
        super().__init__(params, dict(rho=rho, **options))
        self.base = base(self.param_groups, **options)
        self.param_groups = self.base.param_groups
    @torch.no_grad()
    def step(self, closure):
        params = [p for g in self.param_groups for p in g["params"] if p.grad is not None]
        scale = 0.05 / (torch.stack([p.grad.norm() for p in params]).norm() + 1e-12)
        for p in params:
            self.state[p]["old"] = p.clone()
            p.add_(p.grad * scale)
        with torch.enable_grad():
            closure()
        for p in params:
            p.copy_(self.state[p]["old"])
        self.base.step()
model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10)).to(dev)
opt = SAM(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
for _ in range(4):
    x, y = torch.randn(64, 128, device=dev), torch.randint(0, 10, (64,), device=dev)
    def closure():
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss
    closure()
    opt.step(closure)
