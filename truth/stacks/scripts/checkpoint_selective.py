# Selective activation checkpointing: products are kept, the rest is computed again
# packages: torch
import torch
from functools import partial
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
dev = "cuda" if torch.cuda.is_available() else "cpu"
def policy(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE if op in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default) else CheckpointPolicy.PREFER_RECOMPUTE
blocks = nn.ModuleList(nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)) for _ in range(3)).to(dev)
opt = torch.optim.AdamW(blocks.parameters())
for _ in range(4):
    x = torch.randn(64, 128, device=dev)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False, context_fn=partial(create_selective_checkpoint_contexts, policy))
    x.square().mean().backward()
    opt.step()
    opt.zero_grad()
