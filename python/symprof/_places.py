"""Where the program's own code is."""
import functools
import pathlib
import sys
import sysconfig
from types import FrameType

from ._preload import torch_folder


@functools.cache
def library_folders() -> tuple[str, ...]:
    """Code here is not the program's own: its callers' lines are shown."""
    return str(torch_folder()), sysconfig.get_paths()["stdlib"], str(pathlib.Path(__file__).parent)


def place_of_program() -> str:
    """ " (train.py:42)": the innermost line outside of libraries; empty without one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(library_folders()) and not file.startswith("<"):
            return f" ({pathlib.Path(file).name}:{frame.f_lineno})"
        frame = frame.f_back
    return ""
