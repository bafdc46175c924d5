"""Models of the golden files: small ones with what graphs of large ones have. Used by make_golden.py and llama_twice.py."""
import torch
import torch.nn as nn
import torch.nn.functional as F

# ---------------------------------------------------------------- LLAMA-like


class RMSNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(n))

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        v = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(v + 1e-6)).to(dtype)


class LlamaAttention(nn.Module):
    def __init__(self, h, heads, kv, length):
        super().__init__()
        self.heads, self.kv, self.d = heads, kv, h // heads
        self.q_proj = nn.Linear(h, heads * self.d, bias=False)
        self.k_proj = nn.Linear(h, kv * self.d, bias=False)
        self.v_proj = nn.Linear(h, kv * self.d, bias=False)
        self.o_proj = nn.Linear(h, h, bias=False)
        f = 1.0 / (10000.0 ** (torch.arange(0, self.d, 2).float() / self.d))
        t = torch.outer(torch.arange(length).float(), f)
        t = torch.cat([t, t], dim=-1)
        self.register_buffer("cos", t.cos())
        self.register_buffer("sin", t.sin())

    def rotate(self, x, cos, sin):
        half = x.shape[-1] // 2
        return x * cos + torch.cat([-x[..., half:], x[..., :half]], dim=-1) * sin

    def forward(self, x, mask, position_ids):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.heads, self.d).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.kv, self.d).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.kv, self.d).transpose(1, 2)
        cos = self.cos[position_ids].unsqueeze(1).to(x.dtype)
        sin = self.sin[position_ids].unsqueeze(1).to(x.dtype)
        q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
        n = self.heads // self.kv
        k = k[:, :, None].expand(b, self.kv, n, t, self.d).reshape(b, self.heads, t, self.d)
        v = v[:, :, None].expand(b, self.kv, n, t, self.d).reshape(b, self.heads, t, self.d)
        w = torch.matmul(q, k.transpose(2, 3)) / (self.d**0.5) + mask
        w = torch.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype)
        return self.o_proj(torch.matmul(w, v).transpose(1, 2).reshape(b, t, -1))


class LlamaMLP(nn.Module):
    def __init__(self, h, m):
        super().__init__()
        self.gate_proj = nn.Linear(h, m, bias=False)
        self.up_proj = nn.Linear(h, m, bias=False)
        self.down_proj = nn.Linear(m, h, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaLayer(nn.Module):
    def __init__(self, h, heads, kv, m, length):
        super().__init__()
        self.self_attn = LlamaAttention(h, heads, kv, length)
        self.mlp = LlamaMLP(h, m)
        self.input_layernorm = RMSNorm(h)
        self.post_attention_layernorm = RMSNorm(h)

    def forward(self, x, mask, position_ids):
        x = x + self.self_attn(self.input_layernorm(x), mask, position_ids)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self, vocab=64, h=16, heads=4, kv=2, m=24, layers=2, length=16):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, h)
        self.layers = nn.ModuleList([LlamaLayer(h, heads, kv, m, length) for _ in range(layers)])
        self.norm = RMSNorm(h)
        self.lm_head = nn.Linear(h, vocab, bias=False)

    def forward(self, input_ids, attention_mask):
        x = self.embed_tokens(input_ids)
        b, t = input_ids.shape
        low = torch.finfo(x.dtype).min
        mask = torch.full((t, t), low, dtype=x.dtype).triu(1)[None, None]
        mask = torch.where(attention_mask[:, None, None, :] == 0, low, mask)
        position_ids = torch.arange(t)[None]
        for layer in self.layers:
            x = layer(x, mask, position_ids)
        return self.lm_head(self.norm(x))


# ---------------------------------------------------------------- GPT-like of seeds/001 and 004


class Embedding(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.pe = nn.Embedding(vocab, dim)

    def forward(self, x):
        return self.embedding(x) + self.pe(x)


class AttentionBlock(nn.Module):
    def __init__(self, dim, context):
        super().__init__()
        self.query = nn.Linear(dim, dim, bias=False)
        self.key = nn.Linear(dim, dim, bias=False)
        self.value = nn.Linear(dim, dim, bias=False)
        self.register_buffer("mask", torch.tril(torch.ones(context, context)))

    def forward(self, x):
        _, t, c = x.size()
        qk = self.query(x) @ self.key(x).transpose(-2, -1) * c**-0.5
        a = torch.softmax(qk.masked_fill(self.mask[:t, :t] == 0, float("-inf")), dim=-1)
        return a @ self.value(x)


class MultiAttentionBlock(nn.Module):
    def __init__(self, dim, heads, context):
        super().__init__()
        self.attention = nn.ModuleList([AttentionBlock(dim, context) for _ in range(heads)])
        self.linear = nn.Linear(dim * heads, dim)

    def forward(self, x):
        return self.linear(torch.cat([a(x) for a in self.attention], dim=-1))


class FeedForward(nn.Module):
    def __init__(self, dim, ff):
        super().__init__()
        self.linear_1 = nn.Linear(dim, ff)
        self.relu = nn.ReLU()
        self.linear_2 = nn.Linear(ff, dim)

    def forward(self, x):
        return self.linear_2(self.relu(self.linear_1(x)))


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads, context, ff):
        super().__init__()
        self.attention = MultiAttentionBlock(dim, heads, context)
        self.feed_forward = FeedForward(dim, ff)
        self.norm_1 = nn.LayerNorm(dim)
        self.norm_2 = nn.LayerNorm(dim)

    def forward(self, x):
        a = self.attention(self.norm_1(x)) + x
        return self.feed_forward(self.norm_2(a)) + a


class LLM(nn.Module):
    def __init__(self, vocab=128, dim=16, heads=2, context=32, ff=64):
        super().__init__()
        self.embedding = Embedding(vocab, dim)
        self.decoder = DecoderLayer(dim, heads, context, ff)

    def forward(self, input_ids):
        return self.decoder(self.embedding(input_ids))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.bn2 = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8 * 16, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = x + F.hardswish(self.bn2(self.conv2(F.pad(x, (0, 0, 0, 0)))))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, (4, 4)), 1))


class Half(nn.Module):
    """Mixed precision: weights in float32, matrix products in a narrower type."""

    def __init__(self, model, dtype=torch.float16):
        super().__init__()
        self.model, self.dtype = model, dtype

    def forward(self, input_ids, attention_mask):
        with torch.autocast("cpu", dtype=self.dtype):
            return self.model(input_ids, attention_mask).float()

# Files of the golden models name a model's module: that of the script which had them all.
for one in (RMSNorm, LlamaAttention, LlamaMLP, LlamaLayer, Llama, Embedding, AttentionBlock, MultiAttentionBlock, FeedForward, DecoderLayer, LLM, Cnn, Half):
    one.__module__ = "__main__"
