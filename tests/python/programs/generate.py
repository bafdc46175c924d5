"""From a seed, the text of a small training program: `program(dev, mark)`.

    python generate.py 17            # prints the program of seed 17
"""
import random
import sys
from dataclasses import dataclass

import functional_loops
import images
import sequences
import vectors
from loops import LOOPS, Setting, indented
from net import Net
from pieces import CLASSES, IMPORTS

assert functional_loops and images and sequences and vectors  # They fill tables.


# Loops that run backward once, by Tensor.backward(): reentrant checkpoints and fused attention have no second one.
FIRST_ORDER = ("plain", "accumulate", "closure", "lbfgs", "two optimizers", "gan", "sam", "evaluate", "optimizer in backward")


@dataclass(frozen=True)
class Program:
    seed: int
    kind: str  # Of its loop.
    traits: frozenset[str]
    text: str


def generate(seed: int, kinds: tuple[str, ...] = ()) -> Program:
    """`kinds` are the loops to choose from; all where none is named."""
    rng = random.Random(seed)
    names = [name for name in LOOPS if name in kinds] if kinds else list(LOOPS)
    kind = rng.choices(names, [LOOPS[name][0] for name in names])[0]
    net = _network(rng, kind)
    setting = Setting(rng, net[0], net[1].width, "recurrent" in net[1].traits)
    made = _made(setting, net[1])
    _surroundings(setting, kind)
    body = [*made, *LOOPS[kind][1](setting)]
    traits = net[1].traits | setting.traits
    text = _text(seed, kind, traits, net[1], body)
    return Program(seed, kind, frozenset(traits), text)


def _network(rng: random.Random, kind: str) -> tuple[tuple[int, ...], Net]:
    batch = rng.choice((2, 4))
    shape = rng.choice(((batch, rng.choice((8, 12, 16, 24))), (batch, rng.choice((4, 6)), rng.choice((8, 16))),
                        (batch, rng.choice((3, 4)), 8, 8)))
    net = Net("Net", rng, shape, is_first_order=kind in FIRST_ORDER)
    net.is_transformed = kind == "func"
    net.add_blocks(rng.randint(2, 6))
    while net.family != "vector":
        vector = {"sequence": sequences.as_vector, "image": images.as_vector}[net.family]
        vector(net)
    out = rng.choice((4, 6, 8))
    net.say(f"x = {net.part(f'nn.Linear({net.width}, {out})', 'head')}(x)")
    net.become(batch, out)
    return shape, net


def _made(setting: Setting, net: Net) -> list[str]:
    """`net` on the device, and what is done to it before it is trained."""
    rng = setting.rng
    lines = []
    if rng.random() < 0.5 or "recurrent" in net.traits or any("BatchNorm" in line for line in net.init):
        setting.traits.add("no cudnn")
        lines.append("torch.backends.cudnn.enabled = False")
    if rng.random() < 0.1:
        setting.dtype = "torch.float64"
    if "sdpa" in net.traits and (setting.dtype != "torch.float32" or rng.random() < 0.5):
        # Then a CPU and a GPU take the same operators. In double precision a GPU has no others.
        net.traits.remove("sdpa")
        lines += [f"torch.backends.cuda.enable_{kernel}_sdp(False)" for kernel in ("flash", "mem_efficient", "cudnn")]
    moved = rng.choice(("net = Net().to(dev)", "net = Net().to(dev)", "net = Net().to(device=dev)",
                        "with torch.device(dev):\n        net = Net()"))
    lines.append(moved)
    if setting.dtype != "torch.float32":
        lines.append("net = net.double()")
    extra = [
        ("deepcopy", "net = copy.deepcopy(net)"),
        ("load", "net.load_state_dict({n: v.clone() for n, v in net.state_dict().items()})"),
        ("channels_last", "net = net.to(memory_format=torch.channels_last)" if len(setting.shape) == 4 else "net.train()"),
        ("frozen", "next(net.parameters()).requires_grad_(False)"),
        ("forward hook", "next(net.children()).register_forward_hook(lambda m, given, got: None)"),
        ("changing forward hook",
         "net.head_hook = list(net.children())[-1].register_forward_hook(lambda m, given, got: got * 1.5)"),
        ("pre hook", "net.register_forward_pre_hook(lambda m, given: (given[0] * 1.0,))"),
        ("backward hook", "net.register_full_backward_hook(lambda m, to, of: None)"),
        ("changing backward hook",
         "list(net.children())[-1].register_full_backward_hook("
         "lambda m, to, of: tuple(g if g is None else g * 0.5 for g in to))"),
        ("backward pre hook", "net.register_full_backward_pre_hook(lambda m, of: tuple(g * 2 for g in of))"),
        ("parameter hook", "list(net.parameters())[-1].register_hook(lambda g: g.clamp(-1, 1))"),
        ("accumulate hook",
         "list(net.parameters())[-1].register_post_accumulate_grad_hook(lambda p: (p.grad.mul_(0.5), None)[1])"),
    ]
    for trait, line in extra:
        if rng.random() < 0.07 and not (net.is_transformed and "backward" in trait):
            setting.traits.add(trait)
            lines.append(line)
    return lines


def _surroundings(setting: Setting, kind: str) -> None:
    rng = setting.rng
    around = [
        ("autocast", "with torch.autocast(dev, dtype=torch.bfloat16):", 0.12),
        ("user's saved hooks", "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):", 0.04),
        ("packed to bf16",
         "with torch.autograd.graph.saved_tensors_hooks(lambda t: t.half() if t.dtype == torch.float32 else t, "
         "lambda t: t.float() if t.dtype == torch.float16 else t):", 0.03),
    ]
    chosen = [(trait, line) for trait, line, probability in around if rng.random() < probability]
    if chosen and kind not in ("maml", "func"):
        trait, line = rng.choice(chosen)
        setting.traits.add(trait)
        setting.around = [line]
    if kind in ("by hand", "optimizer in backward", "func", "maml"):
        return
    if rng.random() < 0.25:
        setting.after_backward += rng.choice((
            ["torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=True)"],
            ["torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=False)"],
            ["torch.nn.utils.clip_grad_value_(net.parameters(), 0.5, foreach=True)"],
            ["gs = [p.grad for p in net.parameters() if p.grad is not None]", "torch.nn.utils.get_total_norm(gs)"],
        ))
    if kind in ("plain", "accumulate", "closure"):
        _after_step(setting)


BY_HAND = "with torch.no_grad():\n            for e, p in zip(ema, net.parameters()):\n                e.lerp_(p, 0.1)"


def _after_step(setting: Setting) -> None:
    rng = setting.rng
    if rng.random() < 0.15:
        setting.traits.add("scheduler")
        setting.after_step.append("sched.step()")
        setting.prepare.append(rng.choice(("sched = torch.optim.lr_scheduler.StepLR(opt, 2)",
                                           "sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 3)",
                                           "sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 0.9 ** step)")))
    if rng.random() < 0.15:
        setting.traits.add("ema")
        if rng.random() < 0.5:
            setting.prepare.append("ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))")
            setting.after_step.append("ema.update_parameters(net)")
        else:
            setting.prepare.append("ema = [p.detach().clone() for p in net.parameters()]")
            setting.after_step.append(rng.choice(("torch._foreach_lerp_(ema, [p.detach() for p in net.parameters()], 0.1)",
                                                  BY_HAND)))
    if rng.random() < 0.05:
        setting.after_step.append(rng.choice(("opt.load_state_dict(opt.state_dict())", "copy.deepcopy(net.state_dict())")))


def _text(seed: int, kind: str, traits: set[str], net: Net, body: list[str]) -> str:
    lines = [*net.text(), "def program(dev, mark):", *indented(["torch.manual_seed(0)", *body])]
    classes = [CLASSES[trait].strip("\n") + "\n" for trait in CLASSES if trait in traits]
    text = "\n".join([*classes, *lines]) + "\n"
    imports = [line for sign, line in IMPORTS if sign in text]
    head = [f"# Seed {seed}. Loop: {kind}. Traits: {', '.join(sorted(traits)) or 'none'}.",
            *sorted(line for line in imports if line.startswith("import")), "import torch", "from torch import nn",
            "from torch.nn import functional as F",
            *sorted(line for line in imports if not line.startswith("import"))]
    return "\n".join([*head, "", text])


if __name__ == "__main__":
    print(generate(int(sys.argv[1]), tuple(sys.argv[2].split(",")) if len(sys.argv) > 2 else ()).text)
