"""A small decoder with what real ones have: norms, attention with fewer heads of keys, a gated layer, an embedding and a
head. Heads are counted from what arrives, so that tensor parallelism may split them."""
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads, groups):
        super().__init__()
        self.size = width // heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, groups * self.size, bias=False)
        self.v_proj = nn.Linear(width, groups * self.size, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, tokens = x.shape[:2]
        q, k, v = (layer(x).view(batch, tokens, -1, self.size).transpose(1, 2)
                   for layer in (self.q_proj, self.k_proj, self.v_proj))
        k, v = (one.repeat_interleave(q.shape[1] // k.shape[1], 1) for one in (k, v))
        x = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(x.transpose(1, 2).reshape(batch, tokens, -1))


class Gated(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate_proj, self.up_proj = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, width, heads, groups, inner):
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention, self.mlp = Attention(width, heads, groups), Gated(width, inner)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class Decoder(nn.Module):
    def __init__(self, width=64, heads=8, groups=4, inner=128, blocks=4, vocabulary=96):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Block(width, heads, groups, inner) for _ in range(blocks))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def loss_function(output, target):
    return nn.functional.cross_entropy(output.flatten(0, 1), target.flatten())


def make_model(dtype=torch.float64):
    torch.manual_seed(0)
    return Decoder().to(dtype)


def make_batch(samples=8, tokens=16):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 96, (samples, tokens), generator=generator), torch.randint(
        0, 96, (samples, tokens), generator=generator)
