"""C++ meta kernels and the C++ dispatcher, in place of Python's.

`import torch` puts meta kernels written in Python above those of C++ (torch/_meta_registrations.py). They are many times
slower, and one of them imports torch._dynamo. While a simulation runs, C++'s are in force, and Python's for the operators
without one in C++.
"""
import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import _meta_registrations

from ._interrupts import uninterrupted
from ._python_kernels import has_kernel, kernel_of

registrations: Any = _meta_registrations
library: Any = torch.library
overload: Any = torch._ops.OpOverload
LIBRARY = "_meta_lib_dont_use_me_use_register_meta"


_lock = threading.Lock()
_open = 0  # Contexts, of all threads.
_taken: frozenset[str] = frozenset()  # The kernels of Python's library, as torch.library names them.
_in_place_of_cpp: Any = None  # The library of Python's kernels that stay in force.


@contextlib.contextmanager
def of_cpp() -> Iterator[None]:
    """While the context is open, Python's meta kernels are removed, in all threads."""
    global _open, _taken, _in_place_of_cpp
    with uninterrupted(), _lock:
        _open += 1
        if _open == 1:
            _taken = frozenset(getattr(registrations, LIBRARY)._op_impls)
            getattr(registrations, LIBRARY)._destroy()
            _in_place_of_cpp = _registered(_missing_in_cpp(_taken))
    try:
        yield
    finally:
        with uninterrupted(), _lock:
            _open -= 1
            if _open == 0:
                _in_place_of_cpp._destroy()
                _register_again()


def _call_by_cpp(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    return self._cpp_dispatch_handle(*args, **kwargs)


def dispatchers() -> dict[tuple[Any, str], Any]:
    """Replacements by class and name. PyTorch 2.14 finds the kernel of a custom operator in Python (torch/_ops.py, "PyObject
    Dispatcher"); such a call does not reach C++'s dispatcher, which reports calls to symprof."""
    return {(overload, "__call__"): _call_by_cpp} if hasattr(overload, "_enable_pyobj_dispatch") else {}


class _Recorder:
    """Takes the place of a library of kernels, and remembers them."""

    def __init__(self) -> None:
        self.kernels: list[tuple[Any, Callable[..., Any]]] = []

    def impl(self, op: Any, kernel: Callable[..., Any]) -> None:
        self.kernels.append((op, kernel))


def _key_of(op: str) -> str:
    return f"aten/{op.removeprefix('aten::')}/Meta"


@functools.lru_cache(maxsize=1)
def _kernels_of(keys: frozenset[str]) -> list[tuple[Any, Callable[..., Any]]]:
    """The kernels that torch registers on import, found by its own loop over its tables."""
    of_torch = {name: value for name, value in vars(registrations).items() if name.startswith(LIBRARY)}
    recorders = {name: _Recorder() for name in of_torch}
    py_impl = overload.py_impl
    # The table of Python's dispatcher, which was not changed, takes no kernel twice.
    overload.py_impl = lambda self, key: lambda kernel: kernel
    vars(registrations).update(recorders)
    try:
        registrations.activate_meta()
    finally:
        vars(registrations).update(of_torch)
        overload.py_impl = py_impl
    return [(op, kernel) for op, kernel in recorders[LIBRARY].kernels if _key_of(op.name()) in keys]


@functools.lru_cache(maxsize=1)
def _missing_in_cpp(keys: frozenset[str]) -> list[tuple[Any, Callable[..., Any]]]:
    """The kernels of operators without one in C++; queried first while Python's are removed."""
    return [(op, kernel_of(op, kernel)) for op, kernel in _kernels_of(keys) if not has_kernel(op.name())]


def _registered(kernels: list[tuple[Any, Callable[..., Any]]]) -> Any:
    """As torch.library.Library.impl, without its checks of each kernel."""
    made = library.Library("aten", "IMPL", "Meta")
    for op, kernel in kernels:
        made.m.impl(op.name(), "Meta", kernel, False)
    return made


def python_again() -> None:
    """Inside of `of_cpp`: Python's meta kernels are back until `cpp_again`. A compiler traces with them."""
    _register_again()


def cpp_again() -> None:
    getattr(registrations, LIBRARY)._destroy()


def _register_again() -> None:
    of_python = _registered(_kernels_of(_taken))
    setattr(registrations, LIBRARY, of_python)  # Now: the library that it was strikes its names off when it goes.
    of_python._op_impls.update(_taken)
    library._impls.update(_taken)
