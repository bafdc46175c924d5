"""Small models for unit tests: each has one thing that graphs of real models have."""
import torch
from torch import nn
from torch.nn import functional as F


class Mlp(nn.Module):
    """Linear, GELU and dropout; the batch is dynamic."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(64, 256)
        self.dropout = nn.Dropout(0.1)
        self.down = nn.Linear(256, 10)

    def forward(self, x):
        return self.down(self.dropout(F.gelu(self.up(x))))


def mlp():
    return Mlp(), (torch.zeros(8, 64),)


class ConvNet(nn.Module):
    """Convolutions (grouped, strided, transposed), batch norm, activations in place, pooling."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(16)
        self.grouped = nn.Conv2d(16, 16, 3, padding=1, groups=4)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.relu = nn.ReLU(inplace=True)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        x = self.relu(self.stem_norm(self.stem(x)))
        x = x + self.relu(self.norm(self.depthwise(self.grouped(x))))
        x = F.silu(self.up(F.max_pool2d(x, 2)), inplace=True)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


def convnet():
    return ConvNet(), (torch.zeros(2, 3, 32, 32),)


class TiedLanguageModel(nn.Module):
    """One matrix is the embedding and the output layer; a causal attention layer between."""

    def __init__(self, vocabulary=96, width=32, heads=4):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.heads = heads
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids)
        batch, length, width = x.shape
        parts = self.qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (p.view(batch, length, self.heads, -1).transpose(1, 2) for p in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.head(x + mixed.transpose(1, 2).reshape(batch, length, width))


def tied_lm():
    return TiedLanguageModel(), (torch.zeros(2, 16, dtype=torch.int64),)


class Rearranged(nn.Module):
    """Views, splits, indexing, masks, factories and concatenation around one Linear."""

    def __init__(self):
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(16, 8))
        self.register_buffer("order", torch.tensor([2, 0, 1, 3]))
        self.linear = nn.Linear(8, 8)

    def forward(self, x, ids):
        batch, length, width = x.shape
        x = x + self.positions[ids]
        first, rest = x.split([width // 2, width - width // 2], dim=-1)
        x = torch.cat([rest.sin(), first, torch.full_like(first, 0.5)], dim=-1)
        x = x.narrow(-1, 0, width).reshape(batch, length // 4, 4, width)[:, :, self.order]
        x = self.linear(x.flatten(1, 2))
        place = torch.arange(length, device=x.device)
        later = place[None] > place[:, None]
        scores = (x @ x.mT).masked_fill(later, float("-inf")).softmax(-1)
        x = torch.where(ids.unsqueeze(-1) > 3, scores @ x, x.new_zeros(()))
        a, b = x.chunk(2, dim=-1)
        return torch.stack([a, b.expand_as(a)], dim=1).permute(0, 2, 1, 3).mean(dim=2)


def rearranged():
    return Rearranged(), (torch.zeros(2, 16, 8), torch.zeros(2, 16, dtype=torch.int64))


class DynamicShapes(nn.Module):
    """Arithmetic on two dynamic sizes: batch and length."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(12, 24)

    def forward(self, x):
        batch, length, width = x.shape
        pairs = self.inner(x).view(batch, length * 2, width).unfold(1, 2, 2)
        pad = x.new_zeros(batch, length // 2 + 1, width)
        joined = torch.cat([pairs.sum(-1), pad], dim=1)
        weights = torch.arange(joined.shape[1], device=x.device).to(x.dtype) / (length + 1)
        return (joined * weights[None, :, None]).reshape(batch, -1)


def dynamic_shapes():
    return DynamicShapes(), (torch.zeros(4, 6, 12),)


class Aliases(nn.Module):
    """In-place calls on views, a view that outlives its base, a value used and saved twice."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        y = self.linear(x).tanh()
        twice = y * y + self.linear(y)
        z = torch.zeros_like(twice)
        z[:, :8] = twice[:, 8:]
        z.add_(1.0).mul_(twice.sigmoid())
        tail = F.relu(z)[1:]
        return F.softmax(tail.transpose(0, 1), dim=0).contiguous()


def aliases():
    return Aliases(), (torch.zeros(4, 16),)


class ReusedLayer(nn.Module):
    """One layer five times: each use saves its own input, the gradients are summed."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(32, 32)

    def forward(self, x):
        for _ in range(5):
            x = torch.tanh(self.layer(x))
        return x


def reused_layer():
    return ReusedLayer(), (torch.zeros(64, 32),)


class ReusedBuffer(nn.Module):
    """State that each step overwrites in place, and activations that do the same."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(32, 32)
        self.register_buffer("mean", torch.zeros(64, 32))

    def forward(self, x):
        y = self.inner(x)
        with torch.no_grad():
            self.mean.mul_(0.9).add_(y, alpha=0.1)
        y = y.relu_() + self.mean
        return self.inner(y).mul_(2.0).relu_()


def reused_buffer():
    return ReusedBuffer(), (torch.zeros(64, 32),)


class KeptBase(nn.Module):
    """One row of a wide activation is saved, and with it all of it."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(32, 512)
        self.head = nn.Linear(512, 4)

    def forward(self, x):
        first = self.wide(x)[:1]
        return self.head(first * torch.sigmoid(first))


def kept_base():
    return KeptBase(), (torch.zeros(64, 32),)


class MixedDtypes(nn.Module):
    """Parameters in fp32, products in bf16: each gradient comes in bf16 and is kept in fp32."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(32, 32), nn.Linear(32, 32)])

    def forward(self, x):
        half = x.to(torch.bfloat16)
        for layer in (*self.layers, self.layers[0]):
            weight, bias = layer.weight.to(torch.bfloat16), layer.bias.to(torch.bfloat16)
            half = torch.tanh(F.linear(half, weight, bias))
        return half.to(torch.float32)


def mixed_dtypes():
    return MixedDtypes(), (torch.zeros(64, 32),)


class ControlFlow(nn.Module):
    """A loop over sizes, a branch on them, one on the mode, and a region without gradients."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 8)
        self.wide = nn.Linear(8, 32)
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])

    def forward(self, x, repeats: int = 1):
        steps = [x.new_zeros(x.size(0), 8)]
        for i in range(x.size(1)):
            steps.append(torch.tanh(self.cell(x[:, i]) + steps[-1]))
        y = torch.stack(steps[1:], dim=1)
        if x.size(1) > 4:
            y = self.wide(y)
        elif self.training:
            y = F.dropout(y, 0.5)
        for _ in range(repeats):
            for layer in self.layers:
                if y.size(-1) == 8:
                    y = layer(y).relu()
        with torch.no_grad():
            scale = y.abs().mean()
        return y / scale


def control_flow():
    return ControlFlow(), (torch.zeros(2, 3, 8),)
