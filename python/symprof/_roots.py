"""What a program calls its models and optimizers: names that tell several apart."""
import sys
import types
from collections.abc import Iterator

import torch
from torch import nn

_OWN_MODULES = ("symprof.", "torch.nn.modules.module")


def _frames() -> Iterator[types.FrameType]:
    """Those of the program and its libraries, from the innermost out."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith(_OWN_MODULES):
            yield frame
        frame = frame.f_back


def whole_model(module: nn.Module) -> nn.Module:
    """The outermost module that has `module` in it and whose method runs: a LightningModule calls parts of itself in its
    training_step, and is never called as a whole."""
    outermost = module
    for frame in _frames():
        owner = frame.f_locals.get("self")
        if isinstance(owner, nn.Module) and owner is not outermost and any(part is outermost for part in owner.modules()):
            outermost = owner
    return outermost


def name_of(model: object) -> str:
    """The variable or the attribute that holds a model or an optimizer where it is called; else the name of its class."""
    for frame in _frames():
        for variables in (frame.f_locals, frame.f_globals):
            for name, value in variables.items():
                if value is model and name != "self":
                    return name
        name = _attribute_of(frame.f_locals.get("self"), model)
        if name:
            return name
    return type(model).__name__


def _attribute_of(owner: object, model: object) -> str:
    attributes = getattr(owner, "__dict__", {}) if owner is not None and not isinstance(owner, torch.Tensor) else {}
    return next((name.lstrip("_") for name, value in attributes.items() if value is model), "")
