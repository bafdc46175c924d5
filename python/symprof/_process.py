"""The end of a process of the package's command."""
import atexit
import contextlib
import gc
import io
import os
import sys
import threading
from typing import Any, NoReturn

_WRITERS = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)


def end(code: int) -> NoReturn:
    """As Python ends a process, but without freeing what torch._dynamo and torch._inductor made, object by object, which takes a
    second: threads end, functions of atexit run, and files are written out."""
    threads: Any = threading
    threads._shutdown()
    atexit._run_exitfuncs()
    for writer in (*(thing for thing in gc.get_objects() if type(thing) in _WRITERS), sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # Closed here, or at the other end of the pipe.
            writer.flush()
    os._exit(code)
