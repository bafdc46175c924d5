"""Optimizers, clipping, gradient scaling and master weights as training scripts write them."""
import dataclasses
import itertools

import torch


@dataclasses.dataclass(frozen=True)
class Recipe:
    optimizer: str  # symprof's name and variant
    dtype: str = "float32"  # of parameters and inputs; a model of mixed dtypes stays as it is
    autocast: str | None = None
    clip_grad_norm: bool = False
    grad_scaler: bool = False
    master_weights: bool = False
    loss: str = "ones"
    micro_batches: int = 1


def make_optimizer(name, parameters):
    from lion_pytorch import Lion

    kind, variant = name.split(":")
    form = {"single": {"foreach": False}}.get(variant, {variant: True})
    if kind == "sgd":
        return torch.optim.SGD(parameters, **form)
    if kind == "sgd_momentum":
        return torch.optim.SGD(parameters, momentum=0.9, **form)
    if kind == "lion":
        return Lion(parameters)
    of_torch = {"adam": "Adam", "adamw": "AdamW", "rmsprop": "RMSprop", "adafactor": "Adafactor",
                "adagrad": "Adagrad"}
    return getattr(torch.optim, of_torch[kind])(parameters, **form)


class Masters:
    """What NVIDIA Apex's FP16_Optimizer does with parameters in half precision
    (apex/fp16_utils/fp16util.py, fp16_optimizer.py)."""

    def __init__(self, parameters):
        self.pairs, self.updated = [], []
        for parameter in parameters:
            master = parameter
            if parameter.dtype in (torch.float16, torch.bfloat16):
                master = parameter.detach().clone().float().requires_grad_()
                self.pairs.append((parameter, master))
            self.updated.append(master)

    def take_gradients(self):
        for model, master in self.pairs:
            if model.grad is None:
                master.grad = None
                continue
            if master.grad is None:
                master.grad = master.data.new(*master.data.size())
            master.grad.data.copy_(model.grad.data)

    def give_to_model(self):
        for model, master in self.pairs:
            model.data.copy_(master.data)


def loss_of(output, kind):
    return output if kind == "ones" else getattr(output, kind)()


def backward(root, enter_phase):
    gradient = None if root.dim() == 0 else torch.ones_like(root)
    enter_phase("backward")
    root.backward(gradient)


class Training:
    """A model with all that its recipe keeps between steps."""

    def __init__(self, recipe, module):
        self.recipe = recipe
        self.module = module
        trained = [p for p in module.parameters() if p.requires_grad]
        self.masters = Masters(trained) if recipe.master_weights else None
        self.updated = self.masters.updated if self.masters else trained
        self.optimizer = make_optimizer(recipe.optimizer, self.updated)
        self.scaler = torch.amp.GradScaler("cuda") if recipe.grad_scaler else None

    def persistent(self):
        """Tensors that stay from step to step, beside those of the module."""
        found = [value for state in self.optimizer.state.values() for value in state.values()
                 if isinstance(value, torch.Tensor)]
        if self.masters:
            found += [master for _, master in self.masters.pairs]
        if self.scaler:
            found += [self.scaler._scale, self.scaler._growth_tracker]
        return [tensor for tensor in found if tensor.device.type == "cuda"]

    def step(self, inputs, enter_phase=lambda name: None):
        recipe = self.recipe
        for _ in range(recipe.micro_batches):
            enter_phase("forward")
            enabled = recipe.autocast is not None
            dtype = getattr(torch, recipe.autocast) if enabled else None
            with torch.autocast("cuda", dtype, enabled=enabled):
                output = self.module(*inputs)
                enter_phase("loss")
                if recipe.loss != "ones":
                    loss = loss_of(output, recipe.loss)
            if recipe.loss == "ones":
                loss = output
            backward(self.scaler.scale(loss) if self.scaler else loss, enter_phase)
        enter_phase("update")
        self.update()
        self.module.zero_grad()
        self.optimizer.zero_grad()

    def update(self):
        if self.masters:
            self.masters.take_gradients()
        if self.recipe.clip_grad_norm:
            if self.scaler:
                self.scaler.unscale_(self.optimizer)
            # foreach is what clip_grad_norm_ chooses on CUDA; it does not for tensor subclasses.
            torch.nn.utils.clip_grad_norm_(self.updated, 1.0, foreach=True)
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        if self.masters:
            self.masters.give_to_model()


VARIANTS = [f"{kind}:{variant}" for kind in ("sgd", "sgd_momentum", "adam", "adamw")
            for variant in ("single", "foreach", "fused")]
VARIANTS += ["rmsprop:single", "rmsprop:foreach", "adafactor:single", "adafactor:foreach",
             "lion:single", "adagrad:single", "adagrad:foreach", "adagrad:fused"]
ONE_OF_EACH = ("sgd_momentum:foreach", "adamw:fused", "rmsprop:single", "adafactor:single",
               "adafactor:foreach", "lion:single", "adagrad:foreach")
SCALED = ("sgd:fused", "sgd_momentum:foreach", "adamw:single", "adamw:fused", "adafactor:single",
          "adagrad:fused")


def recipes():
    for name in VARIANTS:
        yield Recipe(name)
    for name in ("adamw:single", "adamw:foreach", "adamw:fused"):
        yield Recipe(name, clip_grad_norm=True)
    for name, clip in itertools.product(SCALED, (False, True)):
        yield Recipe(name, autocast="float16", grad_scaler=True, clip_grad_norm=clip, loss="sum")
    yield Recipe("adamw:foreach", autocast="float16", grad_scaler=True)
    for loss in ("ones", "sum", "mean"):
        yield Recipe("adamw:foreach", autocast="bfloat16", loss=loss)
    for name in ONE_OF_EACH:
        yield Recipe(name, dtype="bfloat16")
        yield Recipe(name, dtype="bfloat16", master_weights=True)
    yield Recipe("adamw:foreach", dtype="bfloat16", master_weights=True, clip_grad_norm=True)
    for name in ("adamw:foreach", "adamw:fused"):
        yield Recipe(name, dtype="float16", master_weights=True, grad_scaler=True,
                     clip_grad_norm=True, loss="sum")
    yield Recipe("sgd:single", dtype="bfloat16", master_weights=True, micro_batches=2)
    yield Recipe("sgd:single", autocast="bfloat16", micro_batches=2)
    yield Recipe("sgd:single", micro_batches=2)


def recipes_of(model):
    for recipe in recipes():
        if model != "mixed":
            yield recipe
        elif recipe.autocast is None and recipe.dtype == "float32" and recipe.micro_batches == 1:
            yield recipe
            yield dataclasses.replace(recipe, master_weights=True)
