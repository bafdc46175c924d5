# A reversible network: one autograd function for all blocks, whose inputs are computed again from outputs
# packages: torch
# expect: saved_bytes = 2*64*64*4 + 64*32*4 + 64*128*4 + 64*10*4 + 64*8 + 4
# why: both outputs, the stem's and the head's input, log_softmax; the CPU's counts what the backward saves for itself, too
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Reversible(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, blocks, *parameters):
        ctx.blocks = blocks
        a, b = x.chunk(2, -1)
        with torch.no_grad():
            for f, g in blocks:
                a = a + f(b)
                b = b + g(a)
        ctx.save_for_backward(a, b)
        return torch.cat([a, b], -1)
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        (a, b), (da, db) = ctx.saved_tensors, grad.chunk(2, -1)
        for f, g in reversed(ctx.blocks):
            with torch.enable_grad():
                a_in = a.detach().requires_grad_()
                ga = g(a_in)
            ga.backward(db)
            da = da + a_in.grad
            b = b - ga.detach()
            with torch.enable_grad():
                b_in = b.detach().requires_grad_()
                fb = f(b_in)
            fb.backward(da)
            db = db + b_in.grad
            a = a - fb.detach()
        return (torch.cat([da, db], -1), None, *[None] * sum(1 for pair in ctx.blocks for m in pair for _ in m.parameters()))
mlp = lambda d: nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
blocks = nn.ModuleList(nn.ModuleList([mlp(64), mlp(64)]) for _ in range(4)).to(dev)
stem, head = nn.Linear(32, 128).to(dev), nn.Linear(128, 10).to(dev)
opt = torch.optim.AdamW([*stem.parameters(), *blocks.parameters(), *head.parameters()])
for _ in range(4):
    x, y = torch.randn(64, 32, device=dev), torch.randint(0, 10, (64,), device=dev)
    loss = nn.functional.cross_entropy(head(Reversible.apply(stem(x), blocks, *blocks.parameters())), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
