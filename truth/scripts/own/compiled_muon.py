"""A language model as speed runs train it: documents packed into one sequence, FlexAttention, and Muon compiled apart."""
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

WIDTH, HEADS, TOKENS, WORDS, LAYERS = 512, 4, 2048, 8192, 4


def norm(x):
    return nn.functional.rms_norm(x, (x.size(-1),))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)
        self.mix = nn.Parameter(torch.tensor([1.0, 0.0]))

    def forward(self, x, first, mask):
        x = self.mix[0] * x + self.mix[1] * first
        q, k, v = (part.view(1, TOKENS, HEADS, -1).transpose(1, 2) for part in self.qkv(norm(x)).chunk(3, dim=-1))
        seen = flex_attention(norm(q), norm(k), v, block_mask=mask)
        x = x + self.out(seen.transpose(1, 2).reshape(1, TOKENS, WIDTH))
        return x + self.down(nn.functional.relu(self.up(norm(x))).square())


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens, targets):
        document = (tokens == 0).cumsum(0)

        def same_document(batch, head, query, key):
            return (query >= key) & (document[query] == document[key])

        mask = create_block_mask(same_document, None, None, TOKENS, TOKENS, device="cuda")
        x = first = norm(self.words(tokens)[None])
        for block in self.blocks:
            x = block(x, first, mask)
        logits = 30 * torch.tanh(self.head(norm(x)) / 30)
        return nn.functional.cross_entropy(logits.float().view(-1, WORDS), targets)


@torch.compile
def orthogonal(gradient, steps=5):
    """Newton-Schulz iterations."""
    x = gradient.bfloat16()
    is_tall = x.size(0) > x.size(1)
    x = x.T if is_tall else x
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        square = x @ x.T
        x = 3.4445 * x + (-4.775 * square + 2.0315 * square @ square) @ x
    return x.T if is_tall else x


class Muon(torch.optim.Optimizer):
    def __init__(self, parameters, lr, momentum=0.95):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                buffer = self.state[p].setdefault("momentum", torch.zeros_like(p))
                buffer.lerp_(p.grad, 1 - group["momentum"])
                update = orthogonal(p.grad.lerp(buffer, group["momentum"]))
                p.add_(update.to(p), alpha=-group["lr"])


def main():
    model = Model().cuda().bfloat16()
    matrices = [p for block in model.blocks for p in block.parameters() if p.ndim == 2]
    others = [p for p in model.parameters() if not any(p is matrix for matrix in matrices)]
    optimizers = [torch.optim.AdamW(others, lr=1e-3, fused=True), Muon(matrices, lr=0.02)]
    model = torch.compile(model, dynamic=False)
    for _ in range(4):
        tokens = torch.randint(1, WORDS, (TOKENS + 1,)).cuda()
        loss = model(tokens[:-1], tokens[1:])
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        model.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
