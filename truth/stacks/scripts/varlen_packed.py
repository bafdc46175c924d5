# Packed sequences by torch.nn.attention.varlen, causal
# packages: torch
# expect: optimizer_bytes = 2*2*(128*384+384+128*128+128)
# expect: bwd_flops = 2*384*128*384 + 2*2*384*128*128 + 2*4*(128*128+192*192+64*64)*(3*32+2*32)
# expect: fwd_flops = 2*384*128*512 + 4*4*32*(128*128+192*192+64*64)
import torch
from torch import nn
from torch.nn.attention.varlen import varlen_attn
dev = "cuda"
ends = torch.tensor([0, 128, 320, 384], device=dev, dtype=torch.int32)
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(128, 384), nn.Linear(128, 128)
    def forward(self, x):
        q, k, v = self.qkv(x).view(-1, 3, 4, 32).unbind(1)
        return self.out(varlen_attn(q, k, v, ends, ends, 192, 192, window_size=(-1, 0)).flatten(1))
model = Attention().to(dev).bfloat16()
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(384, 128, device=dev, dtype=torch.bfloat16)).square().mean().backward()
    opt.step()
    opt.zero_grad()
