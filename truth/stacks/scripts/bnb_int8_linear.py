# bitsandbytes: LLM.int8() linears, frozen, with a trained head
# packages: bitsandbytes
import bitsandbytes as bnb, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
base = nn.Sequential(bnb.nn.Linear8bitLt(256, 512, has_fp16_weights=False, threshold=6.0), nn.ReLU(), bnb.nn.Linear8bitLt(512, 256, has_fp16_weights=False)).half().to(dev)
base.requires_grad_(False)
head = nn.Linear(256, 10).to(dev)
opt = torch.optim.AdamW(head.parameters())
for _ in range(4):
    out = head(base(torch.randn(32, 256, device=dev, dtype=torch.half)).float())
    nn.functional.cross_entropy(out, torch.randint(0, 10, (32,), device=dev)).backward()
    opt.step()
    opt.zero_grad()
