# FlexAttention, compiled: causal inside of documents
# packages: torch
# expect: optimizer_bytes = 2*4*(128*384+384+128*128+128)
# expect: fwd_flops = 2*2*512*128*(384+128) + 2*4*(6*128*128)*2*(32+32)
# expect: bwd_flops = 2*1024*128*384 + 2*2*1024*128*128 + 2*4*(6*128*128)*2*(3*32+2*32)
# expect: saved_bytes = 4*(1024*128 + 3*2*4*512*32 + 2*4*512*32 + 2*4*512 + 1024*128) + 4*(4*4 + 4*16) + 8*512
# why: Inductor's on the CUDA build, which the reference does not compile: it keeps no largest scores, and what the mask reads
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
dev = "cuda" if torch.cuda.is_available() else "cpu"
flex = torch.compile(flex_attention)
document = torch.arange(512, device=dev) // 256
mask = create_block_mask(lambda b, h, q, k: (q >= k) & (document[q] == document[k]), None, None, 512, 512, device=dev)
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(128, 384), nn.Linear(128, 128)
    def forward(self, x):
        q, k, v = self.qkv(x).view(2, 512, 3, 4, 32).permute(2, 0, 3, 1, 4)
        return self.out(flex(q, k, v, block_mask=mask).transpose(1, 2).flatten(2))
model = Attention().to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(2, 512, 128, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()
