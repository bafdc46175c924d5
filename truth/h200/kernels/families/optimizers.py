"""Optimizer steps, foreach and fused, and the clipping of gradients' norm before them."""
import itertools

from kernels.families.common import BYTES, operand

# named sets of parameters: (sizes, how many)
SETS = {"few_large": [((4096, 4096), 8)], "many_small": [((768,), 200)],
        "transformer": [((768, 768), 48), ((3072, 768), 24), ((768,), 120), ((50257, 768), 1)],
        "resnet": [((64, 64, 3, 3), 6), ((256, 256, 3, 3), 12), ((512, 512, 3, 3), 6), ((256,), 100)],
        "llama": [((4096, 4096), 16), ((14336, 4096), 6), ((4096,), 9)]}
SMALL = {"few_large": [((4, 4), 2)]}
# optimizer, its options, state tensors read and written beside parameter and gradient
KINDS = {"sgd": ("SGD", {}, 0), "sgd_momentum": ("SGD", {"momentum": 0.9}, 1),
         "adam": ("Adam", {}, 2), "adamw": ("AdamW", {}, 2)}
IMPLEMENTATIONS = ("foreach", "fused")


def count_of(groups):
    total = 0
    for sizes, repeats in groups:
        product = repeats
        for size in sizes:
            product *= size
        total += product
    return total


def points(small):
    for name, groups in (SMALL if small else SETS).items():
        for dtype, implementation, kind in itertools.product(("float32", "bfloat16"),
                                                             IMPLEMENTATIONS, KINDS):
            moved = count_of(groups) * BYTES[dtype] * (3 + 2 * KINDS[kind][2])
            parameters = {"set": name, "dtype": dtype, "implementation": implementation,
                          "small": small}
            yield kind, parameters, 0, moved
        for dtype in ("float32", "bfloat16"):
            yield ("clip_grad_norm", {"set": name, "dtype": dtype, "implementation": "foreach",
                                      "small": small}, 0, 3 * count_of(groups) * BYTES[dtype])


def parameters_with_gradients(parameters, device):
    made = []
    for sizes, repeats in (SMALL if parameters["small"] else SETS)[parameters["set"]]:
        for _ in range(repeats):
            made.append(operand(sizes, parameters["dtype"], device, requires_grad=True))
            made[-1].grad = operand(sizes, parameters["dtype"], device)
    return made


def step_of(kind):
    def build(parameters, device):
        import torch
        name, options, _ = KINDS[kind]
        chosen = {parameters["implementation"]: True}
        return getattr(torch.optim, name)(parameters_with_gradients(parameters, device), lr=1e-6,
                                          **options, **chosen).step
    return build


def clip(parameters, device):
    import torch
    made = parameters_with_gradients(parameters, device)
    return lambda: torch.nn.utils.clip_grad_norm_(made, 1.0, foreach=True)


OPERATIONS = {**{kind: step_of(kind) for kind in KINDS}, "clip_grad_norm": clip}
