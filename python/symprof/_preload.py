"""Loads LibTorch of the installed torch, before torch checks for a GPU.

PyTorch looks up the hooks of CUDA once and caches the answer, so symprof's simulated device has to exist before `import
torch`. If torch is a CUDA build, its CUDA library is loaded first, and the simulated device is put in front of it. The
libraries are those of the installed torch; no Python module is imported from it here.
"""
import ctypes
import pathlib
import re
import sys

from symprof_command import folders, part

from ._error import Error
from ._torch_versions import check

# In this order; the first one brings NVIDIA's libraries.
_NAMES = ("libtorch_global_deps.so", "libc10.so", "libtorch_cpu.so", "libtorch_cuda.so")
_CUDA = 1  # c10/core/DeviceType.h


def torch_folder() -> pathlib.Path:
    """Where the installed torch is, without importing it."""
    found = folders("torch")
    if not found:
        raise Error("torch: is not installed.\n  `import symprof` runs on LibTorch's libraries: pip install torch")
    return found[0]


def _check_version(version: str) -> None:
    found = re.search(r"__version__ = '(.*?)'", (torch_folder() / "version.py").read_text())
    wanted = part("lib/symprof_torch_version.txt")
    check(found[1] if found else "?", str(torch_folder()), wanted.read_text() if wanted else None, version)


def load(version: str) -> None:
    if "torch" in sys.modules:
        raise Error(
            "torch: was imported before symprof, and has already asked whether there is a GPU.\n"
            "  Write `import symprof` above `import torch`, or start the program with `python -m symprof run`."
        )
    _check_version(version)
    libraries = torch_folder() / "lib"
    try:
        for name in _NAMES:
            if (libraries / name).exists():
                ctypes.CDLL(str(libraries / name), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise Error(f"torch: its libraries do not load: {error}.\n  `python -c 'import torch'` says more.") from None


def device_is_initialized(is_initialized: bool) -> None:
    """Tells torch's C++ whether CUDA is initialized, which it asks Python once. The function has no name in Python."""
    library = ctypes.CDLL(str(torch_folder() / "lib" / "libtorch_python.so"))
    set_requires_device_init = library["_ZN5torch5utils24set_requires_device_initEN3c1010DeviceTypeEb"]
    set_requires_device_init.argtypes = [ctypes.c_int8, ctypes.c_bool]
    set_requires_device_init(_CUDA, not is_initialized)
