"""Small modules that hold values where an export has no lines: in functions that are not called
`forward`, in lists and containers. Others hold them in loops on one line.

Widths differ, so that a value that dies too early or too late is seen in the peak.
"""
import dataclasses

import torch
from lifetimes_models import Layers, linear, rows
from torch import nn
from torch.nn import functional as F  # noqa: F401


def scaled(x):
    """Three names and a result: all four are alive when it returns."""
    low = torch.cat([x, x], dim=-1)
    high = torch.exp(low)
    both = low * high
    return both.narrow(-1, 0, x.shape[-1]) + 1


class NamesOfHelper(Layers):
    def forward(self, x):
        x = self.fc[0](x)
        x = scaled(x)
        return self.fc[1](x)


class MethodWithModules(nn.Module):
    """As densenet's `bn_function`: the method's name holds what only its modules are given."""

    def __init__(self):
        super().__init__()
        self.norm, self.narrow, self.grow = nn.LayerNorm(192), linear(192, 160), linear(160, 64)

    def bottleneck(self, parts):
        joined = torch.cat(parts, dim=-1)
        return self.narrow(torch.relu(self.norm(joined)))

    def forward(self, x):
        parts = [x, x + 1, x * 2]
        hidden = self.bottleneck(parts)
        return self.grow(hidden)


def summed(x, depth):
    if depth == 0:
        return torch.tanh(x)
    half = x.shape[-1] // 2
    left, right = x[..., :half] * 2, x[..., half:] * 3
    lower = summed(left, depth - 1)
    upper = summed(right, depth - 1)
    return torch.cat([lower, upper], dim=-1)


class Recursion(Layers):
    def forward(self, x):
        x = self.fc[0](x)
        x = summed(x, 3)
        return self.fc[1](x)


class ListNobodyReads(Layers):
    """What a list has collected and nobody reads is in no line of the file."""

    def forward(self, x):
        seen = []
        for layer in self.fc:
            x = torch.relu(layer(x))
            seen.append(x)
        return seen[-1]


class Dictionary(Layers):
    def forward(self, x):
        found = {}
        found["low"] = self.fc[0](x)
        found["high"] = self.fc[1](found["low"])
        for name in ("first", "second"):
            found[name] = torch.exp(found["high"])
        return self.fc[2](found["second"])


class OneLineLoop(nn.Module):
    """The name of the list is the name of the module, too, as it is in many a model: `s`."""

    def __init__(self):
        super().__init__()
        self.s = nn.ModuleList(nn.Sequential(linear(64, 300), nn.GELU(), linear(300, 64))
                               for _ in range(4))

    # As people write who save lines.
    def forward(s, x):
        x = x * 2
        for a in s.s: x = a(x) + x  # fmt: skip
        return x.mean()


class OneLineLoopOfFunctions(Layers):
    """No module is called in the loop: only the operators say when the line begins again."""

    def forward(self, x):
        x = self.fc[0](x)
        for _ in range(4): x = torch.relu(x * 2 + 1)  # fmt: skip
        return self.fc[1](x)


class WhileLoop(Layers):
    def forward(self, x):
        x, turn = self.fc[0](x), 0
        while turn < 4:
            y = torch.sin(x)
            x = torch.relu(x + y)
            turn += 1
        return self.fc[1](x)


class Comprehension(Layers):
    def forward(self, x):
        parts = [torch.relu(layer(x)) for layer in self.fc]
        total = sum(part.mean() for part in parts)
        last = torch.exp(parts[-1])
        return last * total


def halves(x):
    doubled = torch.cat([x, x * 2], dim=-1)
    low, high = doubled.chunk(2, dim=-1)
    return low + 1, high * high


class Unpacked(Layers):
    def forward(self, x):
        low, high = halves(self.fc[0](x))
        mixed = torch.tanh(low)
        return self.fc[1](mixed) * high.mean()


class Closure(Layers):
    def forward(self, x):
        wide = self.fc[0](x)

        def shifted(by):
            moved = wide + by
            return torch.sin(moved) * moved

        total = shifted(1) + shifted(2)
        return self.fc[1](total)


class EarlyDel(Layers):
    """`del wide` makes no node: the name is taken to hold its value until the function returns."""

    def forward(self, x):
        wide = self.fc[0](x)
        out = self.fc[1](wide)
        del wide
        out = self.fc[2](out)
        return self.fc[3](out)


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


class FunctionalAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.packed, self.out = linear(32, 96), linear(32, 32)

    def forward(self, x):
        query, key, value = self.packed(x).chunk(3, dim=-1)
        mixed, _ = attention(query, key, value)
        return self.out(mixed)


@dataclasses.dataclass
class Intermediates:
    keys: torch.Tensor
    hidden: torch.Tensor


class Remembering(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.back = linear(64, 160), linear(64, 200), linear(200, 64)

    def forward(self, x):
        keys = self.first(x)
        hidden = torch.relu(self.second(x))
        return self.back(hidden) * keys.mean(), Intermediates(keys, hidden)


class ContainersInList(nn.Module):
    """As x-transformers: each block returns a container, and a list keeps them all."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Remembering() for _ in range(4))
        self.head = linear(64, 100)

    def forward(self, x):
        collected = []
        for block in self.blocks:
            update, found = block(x)
            x = x + update
            collected.append(found)
        return self.head(x)


def scan(x, steps):
    """As Mamba written in Python: states in a list, then joined."""
    state = torch.zeros_like(x[:, 0])
    states = []
    for step in range(steps):
        decay = torch.sigmoid(x[:, step])
        state = decay * state + x[:, step]
        states.append(state)
    return torch.stack(states, dim=1)


class Scan(Layers):
    def forward(self, x):
        x = self.fc[0](x)
        x = scan(x, 6)
        return self.fc[1](x)


class AppendedList(nn.Module):
    """What is in the list is read by views of it, and lives until forward returns."""

    def __init__(self):
        super().__init__()
        self.fc = nn.ModuleList([linear(32, 300), linear(32, 200), linear(100, 90)])

    def forward(self, x):
        seen = []
        seen.append(self.fc[0](x))
        seen += [self.fc[1](x)]
        x = torch.cat([part.flatten() for part in seen])
        return self.fc[2](x.reshape(-1, 100))


class Pair(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = linear(width, width)

    def forward(self, state):
        state = torch.relu(self.fc(state))
        return state, None


class HandedOn(nn.Module):
    """The line that binds the name anew makes no node."""

    def __init__(self):
        super().__init__()
        self.grow = linear(64, 192)
        self.layers = nn.ModuleList(Pair(192) for _ in range(3))
        self.last = linear(192, 300)

    def forward(self, x):
        state = self.grow(x)
        for layer in self.layers:
            outputs = layer(state)
            state = outputs[0]
        return self.last(state)


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.other, self.fc = nn.LayerNorm(96), nn.LayerNorm(96), linear(96, 320)

    def forward(self, x):
        x, y = self.norm(x), self.other(x)
        return self.fc(x + y)


class Derived(Base):
    def forward(self, x):
        x = super().forward(x)
        return torch.tanh(x)


class SuperForward(nn.Module):
    """A function called forward that no module's call runs."""

    def __init__(self):
        super().__init__()
        self.derived = Derived()

    def forward(self, x):
        return self.derived(x)


class Cache:
    def __init__(self):
        self.kept = []

    def update(self, x):
        self.kept.append(torch.cat([x, x], dim=-1))
        return self.kept[-1]


class KeptByMethod(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(linear(128, 64) for _ in range(4))

    def forward(self, x):
        cache = Cache()
        for layer in self.layers:
            x = cache.update(layer(x))
        return x


MODELS = {
    "names_of_helper": lambda: (NamesOfHelper(32, 300, 80), rows(32)),
    "method_with_modules": lambda: (MethodWithModules(), rows(64)),
    "recursion": lambda: (Recursion(32, 512, 40), rows(32)),
    "list_nobody_reads": lambda: (ListNobodyReads(32, 300, 280, 260, 240), rows(32)),
    "dictionary": lambda: (Dictionary(32, 100, 300, 80), rows(32)),
    "one_line_loop": lambda: (OneLineLoop(), rows(64)),
    "one_line_loop_of_functions": lambda: (OneLineLoopOfFunctions(32, 400, 80), rows(32)),
    "while_loop": lambda: (WhileLoop(32, 400, 80), rows(32)),
    "comprehension": lambda: (Comprehension(64, 64, 64, 64), rows(64)),
    "unpacked": lambda: (Unpacked(32, 300, 80), rows(32)),
    "closure": lambda: (Closure(32, 300, 80), rows(32)),
    "early_del": lambda: (EarlyDel(32, 500, 80, 200, 440), rows(32)),
    "functional_attention": lambda: (FunctionalAttention(), (torch.zeros(2, 96, 32),)),
    "containers_in_list": lambda: (ContainersInList(), rows(64)),
    "scan": lambda: (Scan(32, 120, 80), (torch.zeros(8, 6, 32),)),
    "appended_list": lambda: (AppendedList(), rows(32)),
    "handed_on": lambda: (HandedOn(), rows(64)),
    "super_forward": lambda: (SuperForward(), rows(96)),
    "kept_by_method": lambda: (KeptByMethod(), rows(128)),
}
