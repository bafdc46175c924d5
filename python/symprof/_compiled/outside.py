"""The compiler's work on its own tensors (FakeTensor, functional tensors) is not recorded as calls of the program."""
import sys
from typing import Any

import torch

from .. import _kernels, _native

_FAKE: Any = torch._C._parse_dispatch_key("Fake")
_native_torch: Any = torch._C


def _set_fake(included: bool, excluded: bool) -> None:
    _native_torch._dispatch_tls_set_dispatch_key_included(_FAKE, included)
    _native_torch._dispatch_tls_set_dispatch_key_excluded(_FAKE, excluded)


class Outside:
    """While one is open the simulation's key is off on this thread, its listeners pause, and torch has Python's meta
    kernels. Contexts may be nested."""

    def __init__(self) -> None:
        self.depth = 0
        self._was_included = False
        self._compiling: Any = None

    def __enter__(self) -> "Outside":
        self.begin()
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def begin(self, *args: Any) -> None:
        self.depth += 1
        if self.depth > 1:
            return
        self._compiling = _native.WhileCompiling()
        self._compiling.__enter__()
        _native_torch._autograd._enable_record_function(False)  # It reads sizes, which may be symbols here.
        self._was_included = _native_torch._dispatch_tls_is_dispatch_key_included(_FAKE)
        _set_fake(included=False, excluded=True)
        _kernels.python_again()

    def end(self, *args: Any) -> None:
        self.depth -= 1
        if self.depth:
            return
        _kernels.cpp_again()
        _set_fake(included=self._was_included, excluded=False)
        _native_torch._autograd._enable_record_function(True)
        self._compiling.__exit__(*sys.exc_info())
        self._compiling = None

    def close(self) -> None:
        """Closes contexts that an interrupt left open."""
        if self.depth:
            self.depth = 1
            self.end()

    def inside(self, function: Any) -> Any:
        """`function`, run as by the program: guards of tensors record the thread's keys at that time."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if self.depth == 0:
                return function(*args, **kwargs)
            _set_fake(included=self._was_included, excluded=False)
            try:
                return function(*args, **kwargs)
            finally:
                _set_fake(included=False, excluded=True)

        return call


outside = Outside()  # Of all simulations: one inside of another compiles as that does.
