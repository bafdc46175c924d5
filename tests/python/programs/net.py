"""The text of a module under construction, and what its blocks say of it."""
import random
from collections.abc import Callable, Sequence

Block = Callable[["Net"], None]
BLOCKS: dict[str, list[tuple[int, Block]]] = {"vector": [], "sequence": [], "image": []}


def block(family: str, weight: int = 2) -> Callable[[Block], Block]:
    """A block reads `x` and writes `x`. `weight` is how often it is taken beside the others of its family."""

    def add(function: Block) -> Block:
        BLOCKS[family].append((weight, function))
        return function

    return add


class Net:
    """Lines of `__init__` and `forward`; `shape` is that of `x` behind the last line."""

    def __init__(self, name: str, rng: random.Random, shape: tuple[int, ...], is_first_order: bool = True) -> None:
        self.name, self.rng, self.shape, self.is_first_order = name, rng, shape, is_first_order
        self.is_transformed = False  # By torch.func, which refuses hooks of backward and writes to what it did not make.
        self.init: list[str] = []
        self.forward: list[str] = []
        self.traits: set[str] = set()  # What makes CPU and CUDA differ, or what the loop must know.
        self.count = 0

    @property
    def family(self) -> str:
        return {2: "vector", 3: "sequence", 4: "image"}[len(self.shape)]

    @property
    def batch(self) -> int:
        return self.shape[0]

    @property
    def width(self) -> int:
        """Features, or channels."""
        return self.shape[1] if self.family == "image" else self.shape[-1]

    def part(self, text: str, prefix: str = "m") -> str:
        """A member with this value; the answer is how forward names it."""
        member = f"self.{prefix}{self.count}"
        self.count += 1
        self.init.append(f"{member} = {text}")
        return member

    def buffer(self, text: str) -> str:
        name = f"b{self.count}"
        self.count += 1
        self.init.append(f'self.register_buffer("{name}", {text})')
        return f"self.{name}"

    def say(self, *lines: str) -> None:
        self.forward.extend(lines)

    def pick(self, choices: Sequence[str]) -> str:
        return self.rng.choice(choices)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def checkpoint(self, inner: str) -> None:
        """`x` plus a region that backward recomputes."""
        reentrant = self.chance(0.35) and self.is_first_order
        self.traits |= {"checkpoint", "reentrant" if reentrant else "non-reentrant"}
        self.say(f"x = x + checkpoint({inner}, x, use_reentrant={reentrant})")

    def new_width(self) -> int:
        return self.rng.choice((4, 8, 12, 16, 24))

    def become(self, *shape: int) -> None:
        self.shape = shape

    def add_blocks(self, count: int) -> None:
        for _ in range(count):
            blocks = BLOCKS[self.family]
            self.rng.choices([function for _, function in blocks], [weight for weight, _ in blocks])[0](self)

    def text(self) -> list[str]:
        head = [f"class {self.name}(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        body = [f"        {line}" for line in self.init]
        return [*head, *body, "", "    def forward(self, x):", *(f"        {line}" for line in self.forward),
                "        return x", ""]


def linear(net: Net, out: int | None = None) -> str:
    """A linear layer from the width of `x`."""
    bias = "" if net.chance(0.7) else ", bias=False"
    return net.part(f"nn.Linear({net.width}, {net.width if out is None else out}{bias})", "linear")


ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "sigmoid", "softplus", "elu", "leaky_relu", "hardswish", "mish", "selu", "relu6",
               "hardtanh", "logsigmoid")
IN_PLACE = ("relu", "silu", "elu", "leaky_relu", "hardswish", "mish", "selu", "relu6")


def activation(net: Net) -> str:
    """An expression of `x`."""
    if net.chance(0.25):
        name = net.pick(IN_PLACE)
        return f"F.{name}(x, inplace=True)"
    if net.chance(0.8):
        return f"F.{net.pick(ACTIVATIONS)}(x)"
    return f"torch.{net.pick(('relu', 'tanh', 'sigmoid', 'sin', 'exp', 'square'))}(x * 0.1)"
