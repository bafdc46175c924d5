# Nested tensors of jagged layout through linear layers, attention and a mean
# packages: torch
# expect: fwd_flops = 4*2*106*64*64 + 2*2*(20*20+45*45+11*11+30*30)*(32+32)
# expect: bwd_flops = 4*2*2*106*64*64 + 2*2*(20*20+45*45+11*11+30*30)*(3*32+2*32)
# expect: optimizer_bytes = 2*4*(4*(64*64+64) + 2*64)
# saved: nested tensors
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Encoder(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.q, self.k, self.v, self.out, self.norm = (*(nn.Linear(d, d) for _ in range(4)), nn.LayerNorm(d))
    def forward(self, x):
        q, k, v = (f(self.norm(x)).unflatten(-1, [2, 32]).transpose(1, 2) for f in (self.q, self.k, self.v))
        return x + self.out(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2))
model = Encoder().to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    x = torch.nested.nested_tensor([torch.randn(n, 64) for n in (20, 45, 11, 30)], layout=torch.jagged, device=dev)
    model(x).values().square().mean().backward()
    opt.step()
    opt.zero_grad()
