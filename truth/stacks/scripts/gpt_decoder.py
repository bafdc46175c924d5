# A decoder as of today: RMS norm, rotary embedding, grouped heads, SwiGLU, tied head, bf16 weights
# packages: torch
import torch
from torch import nn
import torch.nn.functional as F
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Block(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.n1, self.n2 = nn.RMSNorm(d), nn.RMSNorm(d)
        self.q, self.kv, self.o, self.up, self.down = nn.Linear(d, d, False), nn.Linear(d, d // 2 * 2, False), nn.Linear(d, d, False), nn.Linear(d, 512, False), nn.Linear(256, d, False)
    def forward(self, x, cos, sin):
        h = self.n1(x)
        q, (k, v) = self.q(h).unflatten(-1, (4, 32)).transpose(1, 2), (t.unflatten(-1, (2, 32)).transpose(1, 2) for t in self.kv(h).chunk(2, -1))
        q, k = (t * cos + torch.cat([-t[..., 16:], t[..., :16]], -1) * sin for t in (q, k))
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2).flatten(2))
        a, b = self.up(self.n2(x)).chunk(2, -1)
        return x + self.down(F.silu(a) * b)
words, blocks = nn.Embedding(512, 128).to(dev, torch.bfloat16), nn.ModuleList(Block() for _ in range(2)).to(dev, torch.bfloat16)
opt = torch.optim.AdamW([*words.parameters(), *blocks.parameters()])
for _ in range(4):
    ids = torch.randint(0, 512, (2, 65), device=dev)
    angle = torch.outer(torch.arange(64, device=dev), 10000 ** (-torch.arange(0, 32, 2, device=dev) / 32)).repeat(1, 2)
    x = words(ids[:, :-1])
    for block in blocks:
        x = block(x, angle.cos().to(x.dtype), angle.sin().to(x.dtype))
    F.cross_entropy(F.linear(x, words.weight).float().flatten(0, 1), ids[:, 1:].flatten()).backward()
    opt.step()
    opt.zero_grad()
