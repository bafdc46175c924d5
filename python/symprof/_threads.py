"""Threads that a program starts: a simulation is of the thread on which it began."""
import contextlib
import dataclasses
import signal
import threading
from collections.abc import Iterator
from typing import Any

from ._error import Error

_WAKE = signal.SIGURG  # Ignored by default, and hardly used.


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


@dataclasses.dataclass
class Threads:
    """`error`: what ended a thread that the program started, where that is one of this package."""

    error: Error | None = None


@contextlib.contextmanager
def watched() -> Iterator[Threads]:
    """An error of another thread interrupts the main thread, which may wait for what the other was to make. A real signal ends
    the wait; not SIGINT, which processes in the background ignore."""
    threads, excepthook = Threads(), threading.excepthook
    main = threading.main_thread()
    is_main = threading.current_thread() is main
    before = signal.signal(_WAKE, _interrupt) if is_main else None

    def hook(args: Any) -> None:
        if not isinstance(args.exc_value, Error):
            excepthook(args)
            return
        threads.error = args.exc_value
        if is_main and main.ident is not None:
            signal.pthread_kill(main.ident, _WAKE)

    threading.excepthook = hook
    try:
        yield threads
    finally:
        threading.excepthook = excepthook
        if is_main:
            signal.signal(_WAKE, signal.SIG_DFL if before is None else before)
