import torch, torch.nn as nn, torch.nn.functional as F

class RMSNorm(nn.Module):
    def __init__(s, d):
        super().__init__(); s.weight = nn.Parameter(torch.ones(d))
    def forward(s, x):
        input_dtype = x.dtype
        h = x.to(torch.float32)
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return s.weight * h.to(input_dtype)

class LlamaNorm(nn.Module):
    def __init__(s, d):
        super().__init__(); s.weight = nn.Parameter(torch.ones(d))
    def _norm(s, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    def forward(s, x):
        return s._norm(x.float()).type_as(x) * s.weight

class ClipNorm(nn.LayerNorm):
    def forward(s, x):
        orig_type = x.dtype
        x = F.layer_norm(x, s.normalized_shape, s.weight, s.bias, s.eps)
        return x.to(orig_type)

def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)

class Rotary(nn.Module):
    def __init__(s, d):
        super().__init__()
        s.register_buffer('inv_freq', 1.0 / 10000 ** (torch.arange(0, d, 2).float() / d), persistent=False)
    def forward(s, x):
        t = torch.arange(x.shape[1], device=x.device)
        f = t[:, None].float() * s.inv_freq[None].float()
        e = torch.cat((f, f), -1)
        return e.cos().to(x.dtype), e.sin().to(x.dtype)

class Block(nn.Module):
    """softmax in float32, rotary tables, norms in float32, einsum."""
    def __init__(s, norm, d=16):
        super().__init__()
        s.n1, s.n2 = norm(d), norm(d)
        s.q, s.k, s.v, s.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        s.rot = Rotary(d); s.up = nn.Linear(d, 4 * d); s.down = nn.Linear(4 * d, d)
        s.scale = d ** -0.5
    def forward(s, x):
        h = s.n1(x)
        q, k, v = s.q(h), s.k(h), s.v(h)
        cos, sin = s.rot(h)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        a = torch.einsum('bid,bjd->bij', q, k) * s.scale
        a = F.softmax(a, dim=-1, dtype=torch.float32).to(q.dtype)
        x = x + s.o(a @ v)
        return x + s.down(F.gelu(s.up(s.n2(x))))

class Conv(nn.Module):
    """a table in float32 that is cast where it is used, and conv_transpose2d."""
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(3, 8, 3, padding=1); s.b = nn.ConvTranspose2d(8, 4, 2, 2)
        s.register_buffer('scale', torch.ones(8, 1, 1))
    def forward(s, x):
        dtype = x.dtype
        h = torch.tanh(s.a(x)).to(dtype)
        h = (h * s.scale.to(h.dtype)).type_as(x)
        return s.b(h.to(dtype)).to(s.b.weight.dtype)

class Masked(nn.Module):
    """mask of integers, dtype of zeros and new_*."""
    def __init__(s, d=16):
        super().__init__(); s.p = nn.Linear(d, d); s.out = nn.Linear(d, d)
    def forward(s, x, mask):
        m = (1.0 - mask.to(dtype=x.dtype)) * torch.finfo(torch.float32).min
        a = s.p(x) @ x.transpose(1, 2) + m[:, None]
        z = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
        y = a.softmax(-1) @ x + z + x.new_zeros(x.shape) + torch.zeros_like(x)
        return s.out(y.type(x.dtype))

class Times(nn.Module):
    """sinusoids in float32, cast to the model's dtype."""
    def __init__(s, d=16):
        super().__init__(); s.d = d; s.l = nn.Linear(d, d)
    def forward(s, x, t):
        f = torch.exp(torch.arange(s.d // 2, dtype=torch.float32, device=t.device) * -0.5)
        e = t[:, None].float() * f[None]
        e = torch.cat([e.sin(), e.cos()], -1)
        return s.l(e.to(dtype=x.dtype)) * x

def build():
    torch.manual_seed(0)
    x = lambda *s: torch.randn(*s)
    return {
        'rms': (Block(RMSNorm), (x(2, 8, 16),)),
        'llama': (Block(LlamaNorm), (x(2, 8, 16),)),
        'clip': (Block(ClipNorm), (x(2, 8, 16),)),
        'conv': (Conv(), (x(2, 3, 8, 8),)),
        'masked': (Masked(), (x(2, 8, 16), torch.ones(2, 8, dtype=torch.int64))),
        'times': (Times(), (x(4, 16), torch.arange(4))),
    }
