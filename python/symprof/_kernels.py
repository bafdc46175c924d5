"""C++ answers for the shapes of results, in place of Python's.

`import torch` puts meta kernels written in Python above those of C++ (torch/_meta_registrations.py). They are many times
slower, and one of them imports torch._dynamo. While a simulation runs, C++'s are in force.
"""
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch import _meta_registrations

from ._interrupts import uninterrupted

registrations: Any = _meta_registrations
overload: Any = torch._ops.OpOverload
library: Any = torch.library.Library


_lock = threading.Lock()
_open = 0  # Contexts, of all threads.


@contextlib.contextmanager
def of_cpp() -> Iterator[None]:
    """Python's meta kernels are away while the context is open, in whichever thread."""
    global _open
    with uninterrupted(), _lock:
        _open += 1
        if _open == 1:
            registrations._meta_lib_dont_use_me_use_register_meta._destroy()
    try:
        yield
    finally:
        with uninterrupted(), _lock:
            _open -= 1
            if _open == 0:
                _register_again()


def _register_again() -> None:
    registrations._meta_lib_dont_use_me_use_register_meta = library("aten", "IMPL", "Meta")
    py_impl = overload.py_impl
    # The table of Python's dispatcher, which was not changed, takes no kernel twice.
    overload.py_impl = lambda self, key: lambda function: function
    try:
        registrations.activate_meta()
    finally:
        overload.py_impl = py_impl
