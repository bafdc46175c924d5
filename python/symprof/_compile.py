"""torch.compile in a simulation: the model runs eagerly, and a report says so."""
import contextlib
from collections.abc import Iterator
from typing import Any

import torch


@contextlib.contextmanager
def runs_eagerly(program: Any) -> Iterator[None]:
    """While it is open, what torch.compile gives is called as it is. Nothing is imported until a program compiles."""
    compile_as_it_is = torch.compile
    stances: list[Any] = []

    def compile(*args: Any, **kwargs: Any) -> Any:
        if not stances:
            stances.append(torch.compiler.set_stance("force_eager"))
            program.warn("torch.compile: what it compiles ran eagerly; a compiled step may hold less memory, and other kernels run.")
        return compile_as_it_is(*args, **kwargs)

    try:
        torch.compile = compile
        yield
    finally:
        torch.compile = compile_as_it_is
        for stance in stances:
            stance.__exit__(None, None, None)
