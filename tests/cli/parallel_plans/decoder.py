"""A small decoder with the parts of real ones: norms, attention with fewer heads of keys, a gated layer, an embedding and a
head. Heads are counted from the input's size, so that tensor parallelism may split them."""
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


class Experts(nn.Module):
    """Products of all experts as one call each, of rows sorted by expert."""

    def __init__(self, width, inner, experts):
        super().__init__()
        self.up_proj = nn.Parameter(torch.randn(experts, width, inner) / width**0.5)
        self.down_proj = nn.Parameter(torch.randn(experts, inner, width) / inner**0.5)

    def forward(self, x, chosen, weights):
        order = chosen.flatten().argsort(stable=True)
        numbers = torch.arange(len(self.up_proj), device=x.device)
        ends = (chosen.flatten()[:, None] == numbers).sum(0).cumsum(0, dtype=torch.int32)
        rows = x[order // chosen.shape[1]]
        rows = nn.functional.silu(torch._grouped_mm(rows, self.up_proj, offs=ends))
        rows = torch._grouped_mm(rows, self.down_proj, offs=ends) * weights.flatten()[order][:, None]
        return torch.zeros_like(x).index_add(0, order // chosen.shape[1], rows)


class Mixture(nn.Module):
    def __init__(self, width, inner, experts, chosen=2):
        super().__init__()
        self.chosen, self.gate, self.experts = chosen, nn.Linear(width, experts, bias=False), Experts(width, inner, experts)

    def forward(self, x):
        rows = x.flatten(0, 1)
        weights, chosen = self.gate(rows).softmax(-1).topk(self.chosen, -1)
        return self.experts(rows, chosen, weights).view(x.shape)


class Block(nn.Module):
    def __init__(self, width, heads, groups, inner, experts):
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = Attention(width, heads, groups)
        self.mlp = Mixture(width, inner, experts) if experts else Gated(width, inner)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class Decoder(nn.Module):
    def __init__(self, width=64, heads=8, groups=4, inner=128, blocks=4, vocabulary=96, experts=0):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Block(width, heads, groups, inner, experts) for _ in range(blocks))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def loss_function(output, target):
    return nn.functional.cross_entropy(output.flatten(0, 1), target.flatten())


def make_model(experts=0):
    """In float64; with experts in float32, for which PyTorch has their products on a CPU."""
    torch.manual_seed(0)
    return Decoder(experts=experts).to(torch.float32 if experts else torch.float64)


def make_batch(samples=8, tokens=16):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 96, (samples, tokens), generator=generator), torch.randint(
        0, 96, (samples, tokens), generator=generator)
