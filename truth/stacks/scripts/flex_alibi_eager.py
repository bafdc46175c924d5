# FlexAttention without torch.compile: ALiBi as a score_mod, with grouped heads
# packages: torch
# expect: optimizer_bytes = 2*4*(64*128+128+64*64+64)
# expect: fwd_flops = 2*256*64*(128+64) + 2*2*4*128*128*(16+16)
# expect: bwd_flops = 2*256*64*128 + 2*2*256*64*64 + 2*2*4*128*128*(3*16+2*16)
import torch
from torch import nn
from torch.nn.attention.flex_attention import flex_attention
dev = "cuda" if torch.cuda.is_available() else "cpu"
slopes = torch.exp2(-torch.arange(1, 5, device=dev, dtype=torch.float32))
def alibi(score, b, h, q, k):
    return torch.where(q >= k, score + slopes[h] * (k - q), -float("inf"))
qkv, out = nn.Linear(64, 128).to(dev), nn.Linear(64, 64).to(dev)
opt = torch.optim.AdamW([*qkv.parameters(), *out.parameters()])
for _ in range(4):
    q, k, v = qkv(torch.randn(2, 128, 64, device=dev)).split([64, 32, 32], -1)
    q, k, v = (t.unflatten(-1, (-1, 16)).transpose(1, 2) for t in (q, k, v))
    out(flex_attention(q, k, v, score_mod=alibi, enable_gqa=True).transpose(1, 2).flatten(2)).square().mean().backward()
    opt.step()
    opt.zero_grad()
