"""The models of the records, and which of them there are."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads=None):
        super().__init__()
        self.head, kv = width // heads, (kv_heads or heads) * (width // heads)
        self.grouped = kv != width
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(width, n, bias=False) for n in (width, kv, kv, width))

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (w(x).view(batch, length, -1, self.head).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        if self.grouped:
            k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], dim=1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(batch, length, -1))


class FeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False), nn.Linear(width, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(m["width"]), nn.RMSNorm(m["width"])
        self.attention = Attention(m["width"], m["heads"], m.get("kv_heads"))
        self.feed_forward = FeedForward(m["width"], m["hidden"])

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.ffn_norm(x))


class Decoder(nn.Module):
    """The decoder of parallel_truth.py; layers in a dict, so that a pipeline stage is a decoder whose other layers are gone."""

    def __init__(self, m):
        super().__init__()
        self.tok = nn.Embedding(m["vocab"], m["width"])
        self.layers = nn.ModuleDict({str(i): Block(m) for i in range(m["layers"])})
        self.norm, self.output = nn.RMSNorm(m["width"]), nn.Linear(m["width"], m["vocab"], bias=False)
        if m.get("tied"):
            self.output.weight = self.tok.weight

    def forward(self, x):
        x = self.tok(x) if self.tok is not None else x
        for layer in self.layers.values():
            x = layer(x)
        return self.output(self.norm(x)) if self.output is not None else x


class VitBlock(nn.Module):
    def __init__(self, m):
        super().__init__()
        width = m["width"]
        self.norm1, self.norm2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), m["heads"]
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, m["hidden"]), nn.Linear(m["hidden"], width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, width)
        x = x + self.proj(y)
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Vit(nn.Module):
    """ViT; patches by a reshape and a linear layer (no cuDNN on the fake GPU). cls and positions have a first dimension of 1."""

    def __init__(self, m):
        super().__init__()
        self.patch, width = m["patch"], m["width"]
        self.embed = nn.Linear(3 * self.patch**2, width)
        self.cls, self.positions = nn.Parameter(torch.zeros(1, 1, width)), nn.Parameter(torch.zeros(1, (m["image"] // self.patch) ** 2 + 1, width))
        self.layers = nn.ModuleDict({str(i): VitBlock(m) for i in range(m["layers"])})
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, m["classes"])

    def forward(self, x):
        batch, _, height, width = x.shape
        p = self.patch
        x = x.reshape(batch, 3, height // p, p, width // p, p).permute(0, 2, 4, 1, 3, 5).reshape(batch, -1, 3 * p * p)
        x = torch.cat([self.cls.expand(batch, -1, -1), self.embed(x)], dim=1) + self.positions
        for layer in self.layers.values():
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


CLASSES = {"decoder": Decoder, "vit": Vit}

MODELS = {
    "decoder6": {"class": "decoder", "vocab": 50257, "width": 2048, "heads": 16, "hidden": 5632, "layers": 6, "batch": 2, "sequence": 1024},
    "vit8": {"class": "vit", "image": 224, "patch": 16, "width": 1024, "heads": 16, "hidden": 4096, "layers": 8, "classes": 1000, "batch": 32},
}

# Models that nothing was looked up in when the simulation was written.
HELD_OUT = {
    "gqa6": {"class": "decoder", "vocab": 32003, "width": 1536, "heads": 12, "kv_heads": 4, "hidden": 4224, "layers": 6, "batch": 3, "sequence": 768},
    "vit12": {"class": "vit", "image": 192, "patch": 16, "width": 768, "heads": 12, "hidden": 3072, "layers": 12, "classes": 1003, "batch": 24},
}
