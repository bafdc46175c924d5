"""A process for each script, forked from one that has imported torch already."""
import os
import pathlib
import signal
import sys
import time
import traceback
from collections.abc import Callable


def _child(out: pathlib.Path, script: pathlib.Path, body: Callable[[pathlib.Path, pathlib.Path], int]) -> None:
    """Ends the process: what the script has put into torch goes with it."""
    os.setsid()
    log = os.open(out.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = 3
    try:
        code = body(out, script)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def each(arguments: list[str], body: Callable[[pathlib.Path, pathlib.Path], int]) -> None:
    """FOLDER SECONDS SCRIPT …: a line for each script, when it has ended: its name, exit code (less than 0: the signal), seconds."""
    folder, limit, *scripts = arguments
    for script in map(pathlib.Path, scripts):
        begin = time.monotonic()
        child = os.fork()
        if child == 0:
            _child(pathlib.Path(folder, script.stem + ".json"), script, body)
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            if time.monotonic() - begin > float(limit):
                os.killpg(child, signal.SIGKILL)
            time.sleep(0.05)
        print(script.stem, os.waitstatus_to_exitcode(ended[1]), f"{time.monotonic() - begin:.1f}", flush=True)
