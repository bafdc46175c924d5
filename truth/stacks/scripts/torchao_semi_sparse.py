# torchao: 2:4 sparse training of linears
# packages: torchao
# expect: fwd_flops = None
import torch
from torch import nn
from torchao.sparsity.training import SemiSparseLinear, swap_linear_with_semi_sparse_linear
model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).cuda().half()
swap_linear_with_semi_sparse_linear(model, {"0": SemiSparseLinear})
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(128, 256, device="cuda", dtype=torch.half)).float().square().mean().backward()
    opt.step()
    opt.zero_grad()
