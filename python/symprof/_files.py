"""Profiles of model files."""
import contextlib
import os
import sys
from typing import Any

from . import _native
from ._profile import Profile

_names = frozenset(_native.setting_names())


def setting_texts(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Settings as the command's table of settings reads them; other names are sizes of dimensions."""
    texts: list[tuple[str, str]] = []
    for name, value in settings.items():
        if name not in _names:
            texts.append(("sizes", f"{name}={value}"))
        elif value is True:
            texts.append((name, ""))
        elif isinstance(value, dict):
            texts += [(name, f"{key}={entry}") for key, entry in value.items()]
        elif isinstance(value, (list, tuple)):
            texts += [(name, str(entry)) for entry in value]
        elif value is not False and value is not None:
            texts.append((name, str(value)))
    return texts


def _kernels_of_cpp() -> contextlib.AbstractContextManager[None]:
    """Without torch in the process there are no kernels but C++'s."""
    if "torch" not in sys.modules:
        return contextlib.nullcontext()
    from . import _kernels

    return _kernels.of_cpp()


def profile(model: Any, *args: Any, **settings: Any) -> Profile:
    """The profile of one step of a model: a file (.pt2, .pt, .onnx), or a torch.nn.Module and what it is called with.

    Settings have the names of the command's options (`optimizer="adamw"`, `autocast="bf16"`). For a file, other names
    are sizes of its dimensions (`batch=8`); a module takes `kwargs={…}` for its call and a function `loss` of its output.
    Raises Error.
    """
    if not isinstance(model, (str, os.PathLike)):
        from ._module import profile_module

        return profile_module(model, *args, **settings)
    with _kernels_of_cpp():
        return Profile(_native.Model(os.fspath(model)).profile(setting_texts(settings)))
