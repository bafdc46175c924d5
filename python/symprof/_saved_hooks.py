"""torch.func disables the hooks of saved tensors, as hooks would see its wrapped tensors. symprof's hooks, which report
saved tensors, can unwrap them, so they stay; a program's own hooks are refused as by PyTorch."""
import contextlib
from collections.abc import Iterator
from typing import Any

import torch


def answers() -> dict[tuple[Any, str], Any]:
    """By class and name."""
    graph = torch.autograd.graph
    disable: Any = graph.disable_saved_tensors_hooks
    enter: Any = graph.saved_tensors_hooks.__enter__
    messages: list[str] = []

    @contextlib.contextmanager
    def disabled(error_message: str) -> Iterator[None]:
        with disable(error_message):  # Refuses hooks that are there.
            torch._C._autograd._saved_tensors_hooks_enable()
            messages.append(error_message)
            try:
                yield
            finally:
                messages.pop()

    def entered(self: Any) -> None:
        if messages:
            raise RuntimeError(messages[-1])
        enter(self)

    return {(graph, "disable_saved_tensors_hooks"): disabled, (graph.saved_tensors_hooks, "__enter__"): entered}
