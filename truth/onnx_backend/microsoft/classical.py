"""Transformers written as onnxruntime's fusions of attention and embedding look for them: the mask is (1 - mask) x
-10000, or a buffer of ones below the diagonal. (transformers 5 writes masks otherwise, and they fuse no more.)"""
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(hidden, hidden) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, x.shape[2] // self.heads).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        y = torch.matmul(torch.softmax(scores + mask, -1), v).permute(0, 2, 1, 3).contiguous()
        return self.dense(y.view(x.shape[0], x.shape[1], x.shape[2]))


class Layer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.attention, self.norm = SelfAttention(hidden, heads), nn.LayerNorm(hidden)
        self.wide, self.narrow = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
        self.last = nn.LayerNorm(hidden)

    def forward(self, x, mask):
        x = self.norm(self.attention(x, mask) + x)
        return self.last(self.narrow(nn.functional.gelu(self.wide(x))) + x)


class Bert(nn.Module):
    def __init__(self, vocabulary, hidden, heads, layers, longest):
        super().__init__()
        self.words, self.places, self.kinds = (nn.Embedding(n, hidden) for n in (vocabulary, longest, 2))
        self.norm = nn.LayerNorm(hidden)
        self.layers = nn.ModuleList(Layer(hidden, heads) for _ in range(layers))
        self.register_buffer("positions", torch.arange(longest).expand((1, -1)))

    def forward(self, input_ids, attention_mask, token_type_ids):
        x = self.words(input_ids) + self.kinds(token_type_ids)
        x = self.norm(x + self.places(self.positions[:, : input_ids.shape[1]]))
        mask = (1.0 - attention_mask.unsqueeze(1).unsqueeze(2).to(torch.float32)) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Projection(nn.Module):
    """GPT-2's Conv1D: a linear layer whose weight is [input, output]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(inputs, outputs)), nn.Parameter(torch.empty(outputs))

    def forward(self, x):
        y = torch.addmm(self.bias, x.view(-1, x.shape[-1]), self.weight)
        return y.view(x.shape[0], x.shape[1], -1)


def length_of(x, axis):
    """A size as the exporter of PyTorch 1.5 wrote it, which the fusion expects: Shape, Slice, Squeeze."""
    return torch._shape_as_tensor(x)[slice(axis, axis + 1 or None)].squeeze(0)


class CausalAttention(nn.Module):
    """GPT-2's: one projection, and a buffer that hides what comes later."""

    def __init__(self, hidden, heads, longest):
        super().__init__()
        self.heads = heads
        self.all, self.dense = Projection(hidden, 3 * hidden), Projection(hidden, hidden)
        below = torch.tril(torch.ones(longest, longest, dtype=torch.uint8)).view(1, 1, longest, longest)
        self.register_buffer("below", below.to(torch.bool))

    def split(self, x, order):
        return x.view(x.shape[0], x.shape[1], self.heads, x.shape[2] // self.heads).permute(*order)

    def forward(self, x):
        query, key, value = self.all(x).split(x.shape[2], 2)
        q, k, v = self.split(query, (0, 2, 1, 3)), self.split(key, (0, 2, 3, 1)), self.split(value, (0, 2, 1, 3))
        scores = torch.matmul(q, k) / math.sqrt(v.shape[-1])
        queries, keys = length_of(scores, -2), length_of(scores, -1)
        shown = self.below[:, :, keys - queries : keys, :keys]
        scores = torch.where(shown, scores, torch.tensor(-10000.0))
        y = torch.matmul(torch.softmax(scores, -1), v).permute(0, 2, 1, 3).contiguous()
        return self.dense(y.view(x.shape[0], x.shape[1], x.shape[2]))


class CausalLayer(nn.Module):
    def __init__(self, hidden, heads, longest):
        super().__init__()
        self.first, self.attention = nn.LayerNorm(hidden), CausalAttention(hidden, heads, longest)
        self.second = nn.LayerNorm(hidden)
        self.wide, self.narrow = Projection(hidden, 4 * hidden), Projection(4 * hidden, hidden)

    def forward(self, x):
        x = x + self.attention(self.first(x))
        y = self.wide(self.second(x))
        y = 0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * torch.pow(y, 3.0))))
        return x + self.narrow(y)


class Gpt2(nn.Module):
    def __init__(self, vocabulary, hidden, heads, layers, longest):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, hidden), nn.Embedding(longest, hidden)
        self.layers = nn.ModuleList(CausalLayer(hidden, heads, longest) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)

    def forward(self, input_ids):
        x = self.words(input_ids) + self.places(torch.arange(input_ids.shape[1]).unsqueeze(0))
        for layer in self.layers:
            x = layer(x)
        return torch.matmul(self.norm(x), self.words.weight.t())
