# torch.jit.script of a block with control flow, torch.jit.trace of another, both trained
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Gate(nn.Module):
    def __init__(self, d: int):
        super().__init__()
        self.a, self.b = nn.Linear(d, d), nn.Linear(d, d)
    def forward(self, x: torch.Tensor, times: int = 2) -> torch.Tensor:
        for i in range(times):
            if i % 2 == 0:
                x = x + torch.sigmoid(self.a(x)) * torch.tanh(self.b(x))
            else:
                x = torch.relu(self.a(x))
        return x
gate = torch.jit.script(Gate(64).to(dev))
head = torch.jit.trace(nn.Sequential(nn.Linear(64, 256), nn.SiLU(), nn.Linear(256, 8)).to(dev), torch.randn(32, 64, device=dev), check_trace=False)
opt = torch.optim.Adam([*gate.parameters(), *head.parameters()])
for _ in range(4):
    loss = nn.functional.cross_entropy(head(gate(torch.randn(32, 64, device=dev))), torch.randint(0, 8, (32,), device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
