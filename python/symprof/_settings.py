"""Settings as the command's table of settings reads them."""
from typing import Any

from . import _native

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
