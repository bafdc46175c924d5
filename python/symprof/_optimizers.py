"""Optimizers for the parameters of a model on the simulated device."""
import collections
import sys
from collections.abc import Callable
from typing import Any

import torch

from ._error import Error

OptimizerOf = Callable[[torch.nn.Module], torch.optim.Optimizer]

_BY_NAME: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-3),
    "sgd_momentum": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9),
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "adagrad": torch.optim.Adagrad,
    "rmsprop": torch.optim.RMSprop,
    "adafactor": torch.optim.Adafactor,
}


def optimizer_of(optimizer: Any, model: torch.nn.Module) -> OptimizerOf | None:
    """Returns a function that creates an optimizer for `model` once its tensors are on the device.

    `optimizer` is a name of the command ("adamw", "adamw:fused"), a function of parameters, or an optimizer of the model,
    whose groups and settings the new one has."""
    if optimizer is None:
        return None
    if isinstance(optimizer, torch.optim.Optimizer):
        return _like(optimizer, model)
    if callable(optimizer):
        return lambda moved: optimizer(moved.parameters())
    name, _, variant = optimizer.partition(":")
    if name not in _BY_NAME:
        raise Error(f"optimizer: found '{optimizer}', wanted one of {', '.join(_BY_NAME)}, a function of parameters, or an "
                    "optimizer of the model.")
    return lambda moved: _variant(_BY_NAME[name](moved.parameters()), variant)


_CHOOSE = "_default_to_fused_or_foreach"


def label_of(optimizer: torch.optim.Optimizer) -> str:
    """Its name with the variant of its kernels that runs, as the command writes it: "adamw:fused"."""
    name, variant = type(optimizer).__name__.lower(), _variant_of(optimizer)
    return f"{name}:{variant}" if variant else name


def _variant_of(optimizer: torch.optim.Optimizer) -> str:
    group: dict[str, Any] = optimizer.param_groups[0] if optimizer.param_groups else {}
    if "foreach" not in group:
        return ""
    if group.get("fused"):
        return "fused"
    foreach = group["foreach"]
    # An optimizer that chooses by its parameters imports this function (torch/optim/adam.py); others default to single.
    modules = [sys.modules[kind.__module__] for kind in type(optimizer).__mro__ if kind is not torch.optim.Optimizer]
    choose = next((vars(module)[_CHOOSE] for module in modules if _CHOOSE in vars(module)), None)
    if foreach is None and choose is not None:
        foreach = choose(group["params"], group.get("differentiable", False), use_fused=False)[1]
    return "foreach" if foreach else "single"


def _variant(optimizer: torch.optim.Optimizer, variant: str) -> torch.optim.Optimizer:
    if variant:
        for group in optimizer.param_groups:
            group["foreach"], group["fused"] = variant == "foreach", variant == "fused"
    return optimizer


def _like(optimizer: torch.optim.Optimizer, model: torch.nn.Module) -> OptimizerOf:
    """Parameters are matched by name, as those on the device are other objects."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = []
    for group in optimizer.param_groups:
        strangers = [parameter.shape for parameter in group["params"] if id(parameter) not in names]
        if strangers:
            raise Error(f"optimizer: has {len(strangers)} parameters that the model does not have, the first of {tuple(strangers[0])}.\n"
                        "  Give the optimizer of this model.")
        groups.append({**group, "params": [names[id(parameter)] for parameter in group["params"]]})

    def make(moved: torch.nn.Module) -> torch.optim.Optimizer:
        parameters = dict(moved.named_parameters())
        with_parameters = [{**group, "params": [parameters[name] for name in group["params"]]} for group in groups]
        made = type(optimizer).__new__(type(optimizer))
        made.__setstate__({**optimizer.__getstate__(), "state": collections.defaultdict(dict), "param_groups": []})
        for group in with_parameters:
            made.add_param_group(group)
        return made

    return make
