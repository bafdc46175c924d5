"""A program's names for its models and optimizers, to distinguish several."""
import inspect
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

_OWN_MODULES = ("symprof.", "torch.nn.modules.module")


def _frames() -> Iterator[types.FrameType]:
    """The frames of the program and its libraries, from the innermost out."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith(_OWN_MODULES):
            yield frame
        frame = frame.f_back


def _drop_copy(frame: types.FrameType, variables: Mapping[str, Any]) -> None:
    """Before Python 3.13 (PEP 667) the variables of a running function are a copy that its frame keeps, and their values
    would live as long as the function runs."""
    if isinstance(variables, dict) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        variables.clear()


def _variable_of(frame: types.FrameType, value: object) -> str:
    """The name under which the frame's code knows the value; empty where it does not."""
    for variables in (frame.f_locals, frame.f_globals):
        found = next((name for name, one in variables.items() if one is value and name != "self"), "")
        if variables is not frame.f_globals:
            _drop_copy(frame, variables)
        if found:
            return found
    return ""


def _owner_of(frame: types.FrameType) -> object:
    """The object whose method runs."""
    variables = frame.f_locals
    owner: object = variables.get("self")
    if variables is not frame.f_globals:
        _drop_copy(frame, variables)
    return owner


def whole_model(module: nn.Module) -> nn.Module:
    """The outermost module that has `module` in it and whose method runs: a LightningModule calls parts of itself in its
    training_step, and is never called as a whole."""
    outermost = module
    for frame in _frames():
        owner = _owner_of(frame)
        if isinstance(owner, nn.Module) and owner is not outermost and any(part is outermost for part in owner.modules()):
            outermost = owner
    return outermost


def name_of(model: object) -> str:
    """The variable or the attribute with a model or an optimizer at its call; else the name of its class."""
    for frame in _frames():
        name = _variable_of(frame, model) or _attribute_of(_owner_of(frame), model)
        if name:
            return name
    return type(model).__name__


def _attribute_of(owner: object, model: object) -> str:
    attributes = getattr(owner, "__dict__", {}) if owner is not None and not isinstance(owner, torch.Tensor) else {}
    return next((name.lstrip("_") for name, value in attributes.items() if value is model), "")
