"""A LLaMA with grouped queries and rotary positions as one graph, each block checkpointed, and a compiled AdamW."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

WIDTH, HEADS, GROUPS, TOKENS, WORDS, LAYERS = 512, 8, 2, 512, 16000, 4
SIDE = WIDTH // HEADS


def rotations():
    angles = torch.outer(torch.arange(TOKENS), 10000.0 ** (-torch.arange(0, SIDE, 2) / SIDE))
    return torch.stack((angles.cos(), angles.sin()), -1)


def rotate(x, turns):
    pairs = x.float().reshape(*x.shape[:-1], -1, 2)
    turns = turns.view(1, TOKENS, 1, -1, 2)
    turned = torch.stack((pairs[..., 0] * turns[..., 0] - pairs[..., 1] * turns[..., 1],
                          pairs[..., 1] * turns[..., 0] + pairs[..., 0] * turns[..., 1]), -1)
    return turned.flatten(3).type_as(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, (HEADS + 2 * GROUPS) * SIDE, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate, self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x, turns):
        batch = x.shape[0]
        q, k, v = self.qkv(self.before(x)).view(batch, TOKENS, -1, SIDE).split([HEADS, GROUPS, GROUPS], dim=2)
        q, k, v = (part.transpose(1, 2) for part in (rotate(q, turns), rotate(k, turns), v))
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, TOKENS, WIDTH))
        y = self.between(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.register_buffer("turns", rotations(), persistent=False)

    def forward(self, tokens, targets):
        x = self.words(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, self.turns, use_reentrant=False)
        return nn.functional.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


def main():
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(1e-3))
    forward = torch.compile(model, fullgraph=True)
    update = torch.compile(optimizer.step)
    for _ in range(4):
        tokens = torch.randint(WORDS, (4, TOKENS + 1)).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = forward(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        update()
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
