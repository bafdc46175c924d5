"""Small modules for the lifetimes of values in Python: each holds them in its own way.

Every layer has another width, so that a value that dies too early or too late is seen in the sum.
"""
import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


def linear(width_in, width_out):
    return nn.Linear(width_in, width_out, bias=False)


class Layers(nn.Module):
    """Layers of growing width, for the forward functions below."""

    def __init__(self, *widths):
        super().__init__()
        self.fc = nn.ModuleList(linear(a, b) for a, b in zip(widths, widths[1:]))


class NamedOnce(Layers):
    def forward(self, x):
        first = self.fc[0](x)
        second = self.fc[1](first)
        third = self.fc[2](second)
        return self.fc[3](third)


class BoundAnew(Layers):
    def forward(self, x):
        x = self.fc[0](x)
        x = F.relu(x)
        x = self.fc[1](x)
        x = x * 2 + self.fc[2](x)
        x += 1
        x = self.fc[3](x)
        return x


class Unnamed(Layers):
    def forward(self, x):
        return self.fc[3](F.gelu(self.fc[2](self.fc[1](torch.tanh(self.fc[0](x))))))


class Residual(nn.Module):
    """`residual = x` makes no node: the second name is seen by its use alone."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(48)
        self.up = linear(48, 160)
        self.down = linear(160, 48)
        self.final = linear(48, 500)

    def forward(self, x):
        residual = x
        x = self.norm(x)
        x = self.down(self.up(x))
        x = residual + x
        residual = x
        x = self.norm(x)
        x = self.down(self.up(x))
        x = residual + x
        residual = x
        x = self.norm(x)
        x = self.down(self.up(x))
        x = residual + x
        return self.final(x)


class Several(nn.Module):
    """Results of one call that get a name each."""

    def __init__(self):
        super().__init__()
        self.packed = linear(32, 3 * 96)
        self.wide = linear(96, 500)
        self.out = linear(96, 60)

    def forward(self, x):
        query, key, value = self.packed(x).chunk(3, dim=-1)
        largest, _ = self.wide(query).max(dim=-1, keepdim=True)
        first, second = torch.sin(key), torch.cos(value)
        first, second = first + second, first * second
        mean, scale = self.out(first), largest
        return mean * scale + self.out(second)


class Mapped(nn.Module):
    """Results of one line that makes each on its own."""

    def __init__(self):
        super().__init__()
        self.query, self.key = linear(32, 2 * 96), linear(32, 4 * 96)
        self.out = linear(96, 60)

    def forward(self, x):
        key, value = self.key(x).chunk(2, dim=-1)
        query, key, value = map(lambda t: t.reshape(-1, 96).contiguous(), (self.query(x), key, value))
        query = torch.sin(query)
        mean = (query.mean(0) * key).sum(1, keepdim=True)
        query = self.out(query)
        return torch.relu(query).sum() * mean * value


class Inner(Layers):
    def forward(self, x):
        hidden = self.fc[0](x)
        gate = torch.sigmoid(hidden)
        out = hidden * gate
        return self.fc[1](out)


class Nested(nn.Module):
    """What a callee returns gets the caller's name, what it names itself dies with it."""

    def __init__(self):
        super().__init__()
        self.first = Inner(64, 320, 96)
        self.second = Inner(96, 480, 128)
        self.head = linear(128, 700)

    def forward(self, x):
        first = self.first(x)
        x = self.second(first)
        out = self.head(x)
        return out


class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Inner(64, 100 + 60 * i, 64) for i in range(4))
        self.stem = nn.Sequential(linear(32, 64), nn.ReLU(), linear(64, 64), nn.GELU())
        self.head = linear(64, 900)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            update = block(x)
            x = x + update
        return self.head(x)


class Collected(nn.Module):
    """Values in a list that the file does not show."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(linear(64 + 16 * i, 64 + 16 * (i + 1)) for i in range(4))
        self.head = linear(64 + 80 + 96 + 112 + 128, 32)

    def forward(self, x):
        found = [x]
        for block in self.blocks:
            x = torch.relu(block(x))
            found.append(x)
        return self.head(torch.cat(found, dim=-1))


@dataclasses.dataclass
class Output:
    hidden: torch.Tensor
    pooled: torch.Tensor


class Body(Layers):
    def forward(self, x):
        hidden = self.fc[0](x)
        pooled = self.fc[1](hidden)
        return Output(hidden=hidden, pooled=pooled)


class Container(nn.Module):
    """A dataclass keeps what its user does not need any more."""

    def __init__(self):
        super().__init__()
        self.body = Body(64, 256, 128)
        self.head = nn.ModuleList([linear(256, 400), linear(400, 300)])

    def forward(self, x):
        outputs = self.body(x)
        hidden = outputs.hidden
        logits = self.head[1](self.head[0](hidden))
        return logits


class Kept(Layers):
    """An attribute of the module lives longer than the call."""

    def forward(self, x):
        self.last_hidden = self.fc[0](x)
        x = torch.relu(self.last_hidden)
        x = self.fc[1](x)
        x = self.fc[2](x)
        return self.fc[3](x)


def helper(x, layer):
    doubled = x * 2
    return layer(doubled)


class Helper(Layers):
    """Only lines of forward functions are in a file; a helper's names are not."""

    def forward(self, x):
        x = helper(x, self.fc[0])
        x = helper(x, self.fc[1])
        x = helper(x, self.fc[2])
        return helper(x, self.fc[3])


class SeveralLines(nn.Module):
    """A trace has the one line of a statement at which its call begins."""

    def __init__(self):
        super().__init__()
        self.first, self.second = linear(32, 300), linear(300, 80)
        self.third, self.last = linear(160, 200), linear(200, 440)

    def forward(self, x):
        hidden = self.first(
            x,
        )
        hidden = torch.cat(
            [
                self.second(hidden),
                torch.relu(self.second(hidden)),
            ],
            dim=-1,
        )
        hidden = self.third(hidden)
        return self.last(hidden)


def rows(width):
    return (torch.zeros(16, width),)


MODELS = {
    "named_once": lambda: (NamedOnce(32, 256, 64, 200, 40), rows(32)),
    "bound_anew": lambda: (BoundAnew(32, 300, 80, 80, 240), rows(32)),
    "unnamed": lambda: (Unnamed(32, 300, 80, 200, 440), rows(32)),
    "residual": lambda: (Residual(), rows(48)),
    "several": lambda: (Several(), rows(32)),
    "mapped": lambda: (Mapped(), rows(32)),
    "nested": lambda: (Nested(), rows(64)),
    "loop": lambda: (Loop(), rows(32)),
    "collected": lambda: (Collected(), rows(64)),
    "container": lambda: (Container(), rows(64)),
    "kept": lambda: (Kept(32, 300, 80, 200, 440), rows(32)),
    "helper": lambda: (Helper(32, 300, 80, 200, 440), rows(32)),
    "several_lines": lambda: (SeveralLines(), rows(32)),
}
