"""Threads that a program starts: a simulation is of the thread on which it began."""
import _thread
import contextlib
import dataclasses
import threading
from collections.abc import Iterator
from typing import Any

from ._error import Error


@dataclasses.dataclass
class Threads:
    """`error`: what ended a thread that the program started, where that is one of this package."""

    error: Error | None = None


@contextlib.contextmanager
def watched() -> Iterator[Threads]:
    """An error of another thread interrupts the main thread, which may wait for what the other was to make."""
    threads, excepthook = Threads(), threading.excepthook
    is_main = threading.current_thread() is threading.main_thread()

    def hook(args: Any) -> None:
        if not isinstance(args.exc_value, Error):
            excepthook(args)
            return
        threads.error = args.exc_value
        if is_main:
            _thread.interrupt_main()

    threading.excepthook = hook
    try:
        yield threads
    finally:
        threading.excepthook = excepthook
