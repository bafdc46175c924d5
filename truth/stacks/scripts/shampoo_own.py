# A Shampoo-like optimizer: Kronecker factors and their inverse roots by eigh every second step
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Shampoo(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, dict(lr=lr))
    @torch.no_grad()
    def step(self, closure=None):
        for p in (p for g in self.param_groups for p in g["params"] if p.grad is not None):
            g, s = p.grad.view(p.size(0), -1), self.state[p]
            if not s:
                s["n"], s["left"], s["right"] = 0, torch.eye(g.size(0), device=g.device) * 1e-4, torch.eye(g.size(1), device=g.device) * 1e-4
            s["left"].addmm_(g, g.T)
            s["right"].addmm_(g.T, g)
            if s["n"] % 2 == 0:
                for side in ("left", "right"):
                    w, v = torch.linalg.eigh(s[side])
                    s[side + "_root"] = (v * w.clamp(min=1e-6).pow(-0.25)) @ v.T
            s["n"] += 1
            p.add_((s["left_root"] @ g @ s["right_root"]).view_as(p), alpha=-self.param_groups[0]["lr"])
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16)).to(dev)
opt = Shampoo(model.parameters())
for _ in range(4):
    model(torch.randn(64, 32, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
