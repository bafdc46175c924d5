# flash-linear-attention: a gated linear attention layer (Triton)
# packages: flash-linear-attention
# expect: fwd_flops = None
import torch
from fla.layers import GatedLinearAttention
from torch import nn
model = nn.Sequential(nn.Linear(32, 64), nn.LayerNorm(64)).cuda().bfloat16()
layer = GatedLinearAttention(hidden_size=64, num_heads=2, mode="chunk").cuda().bfloat16()
opt = torch.optim.AdamW([*model.parameters(), *layer.parameters()])
for _ in range(4):
    out = layer(model(torch.randn(2, 64, 32, device="cuda", dtype=torch.bfloat16)))[0]
    out.float().square().mean().backward()
    opt.step()
    opt.zero_grad()
