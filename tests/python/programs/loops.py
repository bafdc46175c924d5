"""Training loops: what a program does with its networks. Each gives the lines behind the making of `net`.

`mark.begin()` and `mark.end()` stand around a step, `mark.result(tensor)` gives a result's shape.
"""
import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Setting:
    """What a loop knows of its program."""

    rng: random.Random
    shape: tuple[int, ...]  # Of the input.
    out: int  # Features of the output.
    is_recurrent: bool = False
    dtype: str = "torch.float32"
    traits: set[str] = field(default_factory=set)
    around: list[str] = field(default_factory=list)  # `with` lines around the forward pass.
    prepare: list[str] = field(default_factory=list)  # Lines before the loop.
    after_backward: list[str] = field(default_factory=list)  # Clipping.
    after_step: list[str] = field(default_factory=list)  # Schedulers, EMA.

    @property
    def batch(self) -> int:
        return self.shape[0]

    def data(self, name: str = "x", batch: int | None = None) -> str:
        shape = (batch or self.batch, *self.shape[1:])
        return f"{name} = torch.randn({shape}, device=dev, dtype={self.dtype})"

    def optimizer(self, parameters: str = "net.parameters()") -> str:
        return self.rng.choice(OPTIMIZERS).format(parameters, self.rng.choice(("True", "False")))

    def loss(self, y: str = "y", batch: int | None = None) -> str:
        return self.rng.choice(LOSSES).format(y=y, b=batch or self.batch, k=self.out)


OPTIMIZERS = ("torch.optim.SGD({}, lr=0.01, foreach={})", "torch.optim.SGD({}, lr=0.01, momentum=0.9, foreach={})",
              "torch.optim.Adam({}, lr=1e-3, foreach={})",
              "torch.optim.AdamW({}, lr=1e-3, foreach={})", "torch.optim.AdamW({}, lr=1e-3, amsgrad=True, foreach={})",
              "torch.optim.RMSprop({}, lr=1e-3, foreach={})",
              "torch.optim.Adagrad({}, lr=1e-3, foreach={})", "torch.optim.NAdam({}, lr=1e-3, foreach={})",
              "torch.optim.Adamax({}, lr=1e-3, foreach={})",
              "torch.optim.AdamW({}, lr=1e-3, fused={})",
              "torch.optim.SGD({}, lr=0.01, momentum=0.9, nesterov=True, fused={})", "torch.optim.Adadelta({}, foreach={})",
              "torch.optim.RAdam({}, lr=1e-3, foreach={})", "torch.optim.Rprop({}, lr=1e-3, foreach={})",
              "torch.optim.ASGD({}, lr=1e-3, foreach={})")
LOSSES = ("F.cross_entropy({y}, torch.randint({k}, ({b},), device=dev))", "F.mse_loss({y}, torch.zeros_like({y}))",
          "{y}.square().mean()", "{y}.float().pow(2).sum()",
          "F.binary_cross_entropy_with_logits({y}, torch.rand_like({y}))", "F.l1_loss({y}, torch.ones_like({y}))",
          "F.smooth_l1_loss({y}, torch.zeros_like({y}))",
          "F.nll_loss(F.log_softmax({y}, -1), torch.zeros({b}, dtype=torch.int64, device=dev))",
          "F.kl_div(F.log_softmax({y}, -1), F.softmax(torch.zeros_like({y}), -1), reduction='batchmean')",
          "{y}.logsumexp(-1).mean()", "1 - F.cosine_similarity({y}, torch.ones_like({y})).mean()",
          "F.huber_loss({y}, {y}.detach() * 0.5)",
          "F.cross_entropy({y}, torch.full(({b}, {k}), 1 / {k}, device=dev, dtype={y}.dtype))",
          "F.cross_entropy({y}, torch.randint({k}, ({b},), device=dev), label_smoothing=0.1)",
          "F.soft_margin_loss({y}, torch.ones_like({y}))",
          "F.triplet_margin_loss({y}, {y}.detach() * 2, torch.zeros_like({y}))",
          "F.gaussian_nll_loss({y}, torch.zeros_like({y}), torch.ones_like({y}))")

LOOPS: dict[str, tuple[int, Callable[[Setting], list[str]]]] = {}


def loop(name: str, weight: int = 3) -> Callable[[Callable[[Setting], list[str]]], Callable[[Setting], list[str]]]:
    def add(function: Callable[[Setting], list[str]]) -> Callable[[Setting], list[str]]:
        LOOPS[name] = (weight, function)
        return function

    return add


def indented(lines: list[str], by: int = 1) -> list[str]:
    return ["    " * by + line for line in lines]


def passed(setting: Setting, net: str = "net", x: str = "x", y: str = "y") -> list[str]:
    """The forward pass."""
    call = f"{y} = {net}({x})"
    return [*setting.around, *indented([call], 1)] if setting.around else [call]


def zeroed(setting: Setting, optimizer: str = "opt") -> str:
    return f"{optimizer}.zero_grad({setting.rng.choice(('', '', 'set_to_none=False'))})"


def backward(setting: Setting, loss: str = "loss") -> list[str]:
    once = [f"{loss}.backward()"]
    retained = [f"{loss}.backward(retain_graph=True)"]
    twice = [f"({loss} * 0.5).backward(retain_graph=True)", f"({loss} * 0.5).backward()"]
    return setting.rng.choice((*[once] * 6, [f"torch.autograd.backward([{loss}])"], retained, twice))


def steps(setting: Setting, body: list[str], before: list[str] | None = None, after: list[str] | None = None) -> list[str]:
    """The loop around a step's body; `before` and `after` are no part of the step."""
    data = [setting.data()]
    inside = data if setting.rng.random() < 0.5 else []
    lines = [*(before or []), "mark.begin()", *inside, *body, "mark.end()", *(after or [])]
    return [*setting.prepare, *([] if inside else data), "for i in range(3):", *indented(lines), "mark.result(y)"]


@loop("plain", 8)
def plain(setting: Setting) -> list[str]:
    zero, made = zeroed(setting), f"opt = {setting.optimizer()}"
    body = [*passed(setting), f"loss = {setting.loss()}", *backward(setting), *setting.after_backward, "opt.step()",
            *setting.after_step]
    body = [zero, *body] if setting.rng.random() < 0.6 else [*body, zero]
    return [made, *steps(setting, body)]


@loop("accumulate")
def accumulate(setting: Setting) -> list[str]:
    n = setting.rng.choice((2, 3, 4))
    micro = [*([setting.data()] if setting.rng.random() < 0.5 else []), *passed(setting), f"loss = ({setting.loss()}) / {n}",
             "loss.backward()"]
    body = [f"for j in range({n}):", *indented(micro), *setting.after_backward, "opt.step()", *setting.after_step,
            zeroed(setting)]
    return [f"opt = {setting.optimizer()}", *steps(setting, body)]


@loop("closure")
def closure(setting: Setting) -> list[str]:
    inner = [zeroed(setting), *passed(setting), f"loss = {setting.loss()}", "loss.backward()", *setting.after_backward,
             "mark.result(y)", "return loss"]
    if setting.rng.random() < 0.5:
        body = ["def closure():", *indented(inner), "opt.step(closure)", *setting.after_step]
        made: list[str] = []
    else:
        made = ["def closure(x):", *indented(inner)]
        body = ["opt.step(lambda: closure(x))", *setting.after_step]
    return [f"opt = {setting.optimizer()}", *made, *steps(setting, body)[:-1]]


@loop("lbfgs", 1)
def lbfgs(setting: Setting) -> list[str]:
    inner = ["opt.zero_grad()", *passed(setting), f"loss = {setting.loss()}", "loss.backward()", "mark.result(y)",
             "return loss"]
    made = "opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=1, history_size=3)"
    return [made, *steps(setting, ["def closure():", *indented(inner), "opt.step(closure)"])[:-1]]


@loop("two optimizers")
def two_optimizers(setting: Setting) -> list[str]:
    split = ["ps = list(net.parameters())",
             f"one, two = {setting.optimizer('ps[::2]')}, {setting.optimizer('ps[1::2] or ps[:1]')}"]
    body = ["one.zero_grad()", "two.zero_grad()", *passed(setting), f"loss = {setting.loss()}", *backward(setting),
            *setting.after_backward, "one.step()", "two.step()"]
    return [*split, *steps(setting, body)]


@loop("gan")
def gan(setting: Setting) -> list[str]:
    made = [f"made = nn.Sequential(nn.Linear({setting.out}, 16), nn.ReLU(), nn.Linear(16, 1)).to(dev, {setting.dtype})",
            f"one = {setting.optimizer()}", f"two = {setting.optimizer('made.parameters()')}"]
    made = [line.replace("made", "critic") for line in made]
    real = f"torch.randn({setting.batch}, {setting.out}, device=dev, dtype={setting.dtype})"
    body = ["two.zero_grad()", *passed(setting),
            f"(F.softplus(-critic({real})).mean() + F.softplus(critic(y.detach().to({setting.dtype}))).mean()).backward()",
            "two.step()", "mark.end()", "mark.begin()",  # Each update is a step.
            "one.zero_grad()", *passed(setting), f"F.softplus(-critic(y.to({setting.dtype}))).mean().backward()", "one.step()"]
    return [*made, *steps(setting, body)]


@loop("sam")
def sam(setting: Setting) -> list[str]:
    first = [*passed(setting), f"loss = {setting.loss()}", "loss.backward()", "with torch.no_grad():",
             "    ps = [p for p in net.parameters() if p.grad is not None]",
             "    es = [p.grad * 0.05 / (p.grad.norm() + 1) for p in ps]",
             "    for p, e in zip(ps, es):", "        p.add_(e)", "opt.zero_grad()"]
    second = [*passed(setting), f"loss = {setting.loss()}", "loss.backward()", "with torch.no_grad():",
              "    for p, e in zip(ps, es):", "        p.sub_(e)", "opt.step()", "opt.zero_grad()"]
    return [f"opt = {setting.optimizer()}", *steps(setting, [*first, *second])]


@loop("evaluate")
def evaluate(setting: Setting) -> list[str]:
    between = ["net.eval()", "with torch.no_grad():" if setting.rng.random() < 0.7 else "with torch.inference_mode():",
               *indented(passed(setting, y="z")),
               "    z.argmax(-1)", "net.train()"]
    body = [zeroed(setting), *passed(setting), f"loss = {setting.loss()}", *backward(setting), *setting.after_backward,
            "opt.step()"]
    lines = steps(setting, body, after=between if setting.rng.random() < 0.6 else None, before=None)
    if between[0] not in "\n".join(lines):
        lines = steps(setting, body, before=between)
    if setting.data() not in lines:
        lines.insert(0, setting.data())
    return [f"opt = {setting.optimizer()}", *lines]


@loop("optimizer in backward")
def in_backward(setting: Setting) -> list[str]:
    made = ["opts = {p: " + setting.optimizer("[p]") + " for p in net.parameters() if p.requires_grad}", "def update(p):",
            "    opts[p].step()", "    opts[p].zero_grad()",
            "for p in opts:", "    p.register_post_accumulate_grad_hook(update)"]
    return [*made, *steps(setting, [*passed(setting), f"loss = {setting.loss()}", "loss.backward()"])]


@loop("by hand", 1)
def by_hand(setting: Setting) -> list[str]:
    body = [*passed(setting), f"loss = {setting.loss()}", "ps = [p for p in net.parameters() if p.requires_grad]",
            "gs = torch.autograd.grad(loss, ps, allow_unused=True)",
            "with torch.no_grad():", "    for p, g in zip(ps, gs):", "        if g is not None:",
            "            p.sub_(g, alpha=0.01)"]
    return steps(setting, body)
