"""C++ answers for the shapes of results, in place of Python's.

`import torch` puts meta kernels written in Python above those of C++ (torch/_meta_registrations.py). They are many times
slower, and one of them imports torch._dynamo. While a simulation runs, C++'s are in force.
"""
import contextlib
from collections.abc import Iterator

import torch
from torch import _meta_registrations as registrations


@contextlib.contextmanager
def of_cpp() -> Iterator[None]:
    """Python's meta kernels are away while the context is open."""
    registrations._meta_lib_dont_use_me_use_register_meta._destroy()
    try:
        yield
    finally:
        _register_again()


def _register_again() -> None:
    registrations._meta_lib_dont_use_me_use_register_meta = torch.library.Library("aten", "IMPL", "Meta")
    py_impl = torch._ops.OpOverload.py_impl
    # The table of Python's dispatcher, which was not changed, takes no kernel twice.
    torch._ops.OpOverload.py_impl = lambda self, key: lambda function: function
    try:
        registrations.activate_meta()
    finally:
        torch._ops.OpOverload.py_impl = py_impl
