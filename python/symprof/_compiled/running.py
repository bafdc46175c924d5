"""The simulations that compile now, the innermost last: code that was compiled asks which one it runs in."""
from typing import Any

compilers: list[Any] = []
_originals: dict[tuple[Any, str], Any] = {}  # What stood in torch before the outermost of them.


def program() -> Any:
    """That of the innermost one (symprof._native.Program)."""
    return compilers[-1].program


def keep_originals(places: Any) -> None:
    if not compilers:
        _originals.clear()
        _originals.update({(owner, name): owner.__dict__.get(name) for owner, name in places})


def original(owner: Any, name: str) -> Any:
    """What an answer is put around: in a simulation inside of another not the other's answer."""
    return _originals[owner, name] if compilers else owner.__dict__[name]
