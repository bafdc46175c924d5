# bitsandbytes: frozen 4-bit linears (NF4, double quantization) with adapters that are trained
# packages: bitsandbytes
# expect: fwd_flops = 2*2*32*256*256 + 2*2*2*32*256*8
import bitsandbytes as bnb, torch
from torch import nn
class Adapted(nn.Module):
    def __init__(self, d=256):
        super().__init__()
        self.base = bnb.nn.Linear4bit(d, d, bias=False, compute_dtype=torch.bfloat16, quant_type="nf4", compress_statistics=True)
        self.down, self.up = nn.Linear(d, 8, bias=False), nn.Linear(8, d, bias=False)
    def forward(self, x):
        return self.base(x) + self.up(self.down(x))
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(Adapted(), nn.SiLU(), Adapted()).bfloat16().to(dev)
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
for _ in range(4):
    model(torch.randn(32, 256, device=dev, dtype=torch.bfloat16)).float().square().mean().backward()
    opt.step()
    opt.zero_grad()
