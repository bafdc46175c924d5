"""Imports of torch without Python's garbage collector: it looks again and again at what they make, none of which is garbage, and takes a third
of their time. torch._dynamo comes with the program's first optimizer (torch/optim/optimizer.py), torch._inductor with torch.compile."""
import contextlib
import gc
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from typing import Any


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if not name.startswith("torch."):
            return None
        spec: Any = importlib.machinery.PathFinder.find_spec(name, path, target)
        if isinstance(getattr(spec, "loader", None), importlib.machinery.SourceFileLoader):
            run = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                with uncollected():
                    run(module)

            spec.loader.exec_module = exec_module
        return spec


@contextlib.contextmanager
def quick() -> Iterator[None]:
    """While it is open."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
