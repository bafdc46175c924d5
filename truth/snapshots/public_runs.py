"""The programs behind public memory snapshots of runs on GPUs, written anew from what was published of them.

    symprof run --all public_runs.py CASE      (predicted.py runs them all)

A case is the name of a snapshot without its ending. `LanguageModel` makes the same calls of PyTorch, in the same order, as the model
of the snapshots' authors; weights are not filled, as no figure depends on them."""
import argparse
import math

import torch
from torch import nn


class Linear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))

    def forward(self, x):
        return torch.einsum("...i,oi->...o", x, self.weight)


class Embedding(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(words, width))

    def forward(self, tokens):
        return self.weight[tokens, :]


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
        x = x * scale
        return (self.weight * x).to(dtype)


class Rotation(nn.Module):
    """Of halves that are even and odd columns."""

    def __init__(self, length, width):
        super().__init__()
        self.register_buffer("table", torch.empty(2, length, width // 2), persistent=False)

    def forward(self, x):
        even, odd = x.unflatten(-1, (-1, 2)).movedim(-1, 0).unbind(0)
        cosine, sine = self.table[:, :x.size(-2), :].unbind(0)
        rotated = cosine * even - sine * odd
        other = sine * even + cosine * odd
        return torch.concat((rotated, other), dim=-1)


def softmax(x, dim=-1):
    shifted = x - torch.max(x, dim=dim, keepdim=True)[0]
    powers = torch.exp(shifted)
    return powers / torch.sum(powers, dim=dim, keepdim=True)


def log_softmax(x):
    greatest = torch.max(x, dim=-1, keepdim=True)[0]
    x = x - greatest
    return x - torch.log(torch.sum(torch.exp(x), dim=-1, keepdim=True))


def cross_entropy(logits, targets):
    negative = -log_softmax(logits)
    return torch.mean(torch.gather(negative, -1, targets.unsqueeze(-1)))


def attend(q, k, v, mask):
    scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(k.shape[-1])
    scores = torch.where(mask, scores, float("-inf"))
    weights = softmax(scores)
    return torch.einsum("...qk,...kd->...qd", weights, v)


def silu(x):
    return x * torch.sigmoid(x)


class Attention(nn.Module):
    linear = Linear

    def __init__(self, width, heads, rotation):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (self.linear(width, width) for _ in range(4))
        self.rotation = rotation

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        q, k, v = self.split(q), self.split(k), self.split(v)
        q, k = self.rotation(q), self.rotation(k)
        places = torch.arange(x.size(1), device=x.device)
        mask = places[:, None] >= places[None, :]
        mask = mask[(None, ...)]
        mixed = attend(q, k, v, mask)
        mixed = mixed.transpose(1, 2).flatten(2).contiguous()
        return self.out(mixed)


class FeedForward(nn.Module):
    linear = Linear

    def __init__(self, width, inner):
        super().__init__()
        self.up, self.down, self.gate = self.linear(width, inner), self.linear(inner, width), self.linear(width, inner)

    def forward(self, x):
        return self.down(silu(self.up(x)) * self.gate(x))


class Block(nn.Module):
    def __init__(self, width, heads, inner, rotation):
        super().__init__()
        self.attention = Attention(width, heads, rotation)
        self.feed_forward = FeedForward(width, inner)
        self.first_norm, self.second_norm = RMSNorm(width), RMSNorm(width)

    def forward(self, x):
        attended = self.attention(self.first_norm(x))
        middle = x + attended
        fed = self.feed_forward(self.second_norm(middle))
        return middle + fed


class LanguageModel(nn.Module):
    def __init__(self, length, width, layers, heads, inner, words=10_000):
        super().__init__()
        self.embedding = Embedding(words, width)
        self.rotation = Rotation(length, width // heads)
        self.layers = nn.ModuleList(Block(width, heads, inner, self.rotation) for _ in range(layers))
        self.norm = RMSNorm(width)
        self.head = Linear(width, words)

    def forward(self, tokens):
        embedded = self.embedding(tokens)  # The name holds it until the end.
        x = embedded
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class AdamW(torch.optim.Optimizer):
    """One tensor after the other; a default of `get` is made whether it is needed or not."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 1e-3})

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad, state, rate = p.grad.data, self.state[p], group["lr"]
                p.data -= rate * 0.01 * p.data
                first = state.get("m", torch.zeros_like(grad))
                second = state.get("v", torch.zeros_like(grad))
                new_first = 0.9 * first + ((1 - 0.9) * grad)
                new_second = 0.999 * second + ((1 - 0.999) * torch.square(grad))
                p.data -= rate * new_first / (torch.sqrt(new_second) + 1e-8)
                state["m"], state["v"] = new_first, new_second


def cast(operand):
    """As autocast does it for torch.einsum: one operand after the other."""
    return operand.to(torch.bfloat16) if torch.is_autocast_enabled("cuda") else operand


class OtherLinear(Linear):
    """torch.einsum("oi,...i->...o", weight, x) as PyTorch 2.6 calculates it: the weight on the left, and the result turned round. Later
    versions put x on the left."""

    def forward(self, x):
        weight, rows = cast(self.weight), cast(x).flatten(0, 1)
        turned = torch.bmm(weight.unsqueeze(0), rows.t().unsqueeze(0))
        return turned.squeeze(0).t().unflatten(0, x.shape[:2])


class RootNorm(nn.Module):
    """RMSNorm by way of the norm."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x):
        dtype = x.dtype
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        root = torch.sqrt(norm ** 2 / self.width + 1e-5)
        x = x / root
        x = torch.einsum("d,...d->...d", self.weight, x)  # Autocast casts its operands.
        return x.to(dtype)


class PlacedRotation(nn.Module):
    """With rows of a table for each place of each sequence; written into a new tensor."""

    def __init__(self, length, width):
        super().__init__()
        for name in ("cosine", "sine"):
            self.register_buffer(name, torch.empty(length, width // 2), persistent=False)

    def forward(self, x, places):
        cosine = self.cosine[places].unsqueeze(1)
        sine = self.sine[places].unsqueeze(1)
        pairs = x.unflatten(-1, (-1, 2))
        out = torch.empty_like(x)
        out[..., 0::2] = pairs[..., 0] * cosine - pairs[..., 1] * sine
        out[..., 1::2] = pairs[..., 0] * sine + pairs[..., 1] * cosine
        return out


def filled_softmax(x):
    greatest = torch.max(x, dim=-1, keepdim=True)[0]
    powers = torch.exp(x - greatest)
    total = torch.sum(powers, dim=-1, keepdim=True)
    return powers / total


def attend_filled(q, k, v, mask):
    scores = torch.einsum("...qd,...kd->...qk", q, k)
    scores = scores / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(mask == False, -1e9)  # noqa: E712
    weights = filled_softmax(scores)
    return torch.einsum("...qk,...kd->...qd", weights, v)


class PlacedAttention(Attention):
    linear = OtherLinear

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        q, k, v = self.split(q), self.split(k), self.split(v)
        places = torch.arange(x.size(1), device=x.device).unsqueeze(0).expand(x.size(0), -1)
        q = self.rotation(q, places)
        k = self.rotation(k, places)
        mask = torch.triu(torch.ones(x.size(1), x.size(1), device=x.device), diagonal=1).to(torch.bool)
        mask = ~mask
        mask = mask.unsqueeze(0).unsqueeze(0).expand(x.size(0), self.heads, -1, -1)
        mixed = attend_filled(q, k, v, mask)
        mixed = mixed.transpose(1, 2).flatten(2)
        return self.out(mixed)


class GatedForward(FeedForward):
    linear = OtherLinear

    def forward(self, x):
        up, gate = self.up(x), self.gate(x)
        activated = up * torch.sigmoid(up)
        activated = activated * gate
        return self.down(activated)


class LargeBlock(nn.Module):
    def __init__(self, width, heads, inner, length):
        super().__init__()
        self.first_norm = RootNorm(width)
        self.attention = PlacedAttention(width, heads, PlacedRotation(length, width // heads))
        self.second_norm = RootNorm(width)
        self.feed_forward = GatedForward(width, inner)

    def forward(self, x):
        h = self.first_norm(x)
        h = self.attention(h)
        x = x + h
        h = self.second_norm(x)
        h = self.feed_forward(h)
        return x + h


class LargeModel(nn.Module):
    def __init__(self, length, width, layers, heads, inner, words=10_000):
        super().__init__()
        self.embedding = Embedding(words, width)
        self.layers = nn.ModuleList(LargeBlock(width, heads, inner, length) for _ in range(layers))
        self.norm = RootNorm(width)
        self.head = OtherLinear(width, words)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        return self.head(x)


def flat_cross_entropy(logits, targets):
    logits, targets = logits.flatten(0, 1), targets.flatten()
    greatest = torch.max(logits, dim=-1, keepdim=True)[0]
    shifted = logits - greatest
    powers = torch.exp(shifted)
    total = torch.sum(powers, dim=-1)
    picked = shifted[torch.arange(targets.size(0), device=targets.device), targets]
    losses = torch.log(total) - picked
    return losses.mean()


class InPlaceAdamW(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 1e-4})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["m"] = torch.zeros_like(p)
                    state["v"] = torch.zeros_like(p)
                state["m"].mul_(0.9).add_(p.grad, alpha=0.1)
                state["v"].mul_(0.95).addcmul_(p.grad, p.grad, value=0.05)
                denominator = state["v"].sqrt() + 1e-8
                p.addcdiv_(state["m"], denominator, value=-group["lr"])


def autocast(enabled):
    return torch.autocast(device_type="cuda", dtype=torch.bfloat16, enabled=enabled)


MEDIUM = {"width": 1024, "layers": 24, "heads": 16, "inner": 4096}


def train(length, mixed, steps=3):
    """The first steps create what later ones find; the last one was recorded."""
    model = LanguageModel(length, **MEDIUM).to("cuda")
    optimizer = AdamW(model.parameters())
    inputs, last_inputs, targets, last_targets = (
        torch.randint(0, 10_000, (count, 4, length), device="cuda") for count in (5, 1, 5, 1))
    for step in range(steps):
        is_last = step == steps - 1
        with autocast(mixed):
            output = model(last_inputs[0] if is_last else inputs[step])
            loss = cross_entropy(output, last_targets[0] if is_last else targets[step])
        loss.backward()
        optimizer.step()
        if not is_last:
            optimizer.zero_grad()
        if step == steps - 2:
            del output, loss


def infer(length, mixed, runs=3):
    model = LanguageModel(length, **MEDIUM).to("cuda").eval()
    optimizer = AdamW(model.parameters())  # noqa: F841
    inputs, last = (torch.randint(0, 10_000, (count, 4, length), device="cuda") for count in (5, 1))
    with torch.inference_mode():
        for run in range(runs):
            with autocast(mixed):
                model(last[0] if run == runs - 1 else inputs[run])


LARGE = {"width": 2560, "layers": 32, "heads": 32, "inner": 10240}


def run_large(length, mixed, is_step):
    with torch.device("cuda"):
        model = LargeModel(length, **LARGE)
    optimizer = InPlaceAdamW(model.parameters())
    tokens = torch.randint(0, 10_000, (4, length)).to("cuda")
    model.head(model.norm.weight[None, None])  # The workspace of cuBLAS is of an earlier run.
    with autocast(mixed):
        torch.cuda.empty_cache()
        logits = model(tokens)
        if is_step:
            loss = flat_cross_entropy(logits, tokens)
            loss.backward()
            optimizer.step()


def toy_softmax(x):
    greatest = x.max(dim=-1, keepdim=True).values
    numerator = torch.exp(x - greatest)
    denominator = torch.sum(numerator, dim=-1, keepdim=True)
    return numerator / denominator


def toy_attention(q, k, v):
    scores = torch.einsum("bqd,bkd->bqk", q, k)
    scores = scores / (q.shape[-1] ** 0.5)
    weights = toy_softmax(scores)
    return torch.einsum("bqk,bkd->bqd", weights, v)


def attention_toy():
    q, k, v = (torch.randn(8, 4096, 16, device="cuda", requires_grad=True) for _ in range(3))
    output = toy_attention(q, k, v)
    loss = output.sum()
    loss.backward()


CASES = {
    "lm423m_ctx256_train_fp32": lambda: train(256, mixed=False),
    "lm423m_ctx1024_train_bf16": lambda: train(1024, mixed=True),
    "lm423m_ctx512_inference_bf16": lambda: infer(512, mixed=True),
    "lm3400m_ctx128_fullstep_fp32": lambda: run_large(128, mixed=False, is_step=True),
    "lm3400m_ctx512_forward_fp32": lambda: run_large(512, mixed=False, is_step=False),
    "lm3400m_ctx256_forward_bf16": lambda: run_large(256, mixed=True, is_step=False),
    "attention_toy": attention_toy,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    CASES[parser.parse_args().case]()
