"""Settings as the command's table of settings reads them."""
import difflib
from collections.abc import Iterable
from typing import Any

from . import _native
from ._error import Error

_OF_PYTHON = ("eager", "no_cache")  # Not in the table: of the compiler (_compiled/).
# Settings of a program that runs unchanged: its own code decides everything else.
OF_PROGRAMS = (*(name for name, _, _ in _native.settings_of("run")), *_OF_PYTHON)
OF_MODULES = (*(name for name, _, _ in _native.settings_of("profile_module")), *_OF_PYTHON)

_names = frozenset(_native.setting_names())


def setting_texts(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Settings as the command's table of settings reads them; other names are sizes of dimensions."""
    texts: list[tuple[str, str]] = []
    for name, value in settings.items():
        if name in _OF_PYTHON:
            continue
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


def refuse_what_changes_a_graph(settings: dict[str, Any], known: tuple[str, ...] = OF_PROGRAMS, sizes: Iterable[str] = ()) -> None:
    """A module and a program run as they are. A setting that only a file's graph obeys would be ignored in silence; so would
    a name that is none. `sizes` are names of dimensions, which have changed already."""
    for name, value in settings.items():
        if name in known or value is None or value is False:
            continue
        if name in _names:
            raise Error(f"{name}: is no setting of a module or a program, which run as they are; there are "
                        f"{', '.join(known)}.\n  Write it in the code that runs, or profile a file: "
                        "torch.export.export(model, args) makes one.")
        names = [*known, *sizes]
        close = difflib.get_close_matches(name, names, 1)
        raise Error(f"{name}: is no setting of a module or a program, and no dimension of its inputs; there are {', '.join(names)}."
                    + (f"\n  Did you mean '{close[0]}'?" if close else ""))
