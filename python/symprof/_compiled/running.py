"""The simulations that compile now, the innermost last: compiled code looks up the one that it runs in."""
from typing import Any

compilers: list[Any] = []
_originals: dict[tuple[Any, str], Any] = {}  # The originals in torch before the outermost of them.


def program() -> Any:
    """That of the innermost one (symprof._native.Program)."""
    return compilers[-1].program


def keep_originals(places: Any) -> None:
    if not compilers:
        _originals.clear()
    for owner, name in places:
        _originals.setdefault((owner, name), owner.__dict__.get(name))


def original(owner: Any, name: str) -> Any:
    """The original behind a replacement: in a nested simulation not the outer one's replacement."""
    return _originals[owner, name] if compilers and (owner, name) in _originals else owner.__dict__[name]
