"""Loads LibTorch of the installed torch, before torch checks for a GPU.

PyTorch looks up the hooks of CUDA once and caches the answer, so symprof's simulated device has to exist before `import
torch`. If torch is a CUDA build, its CUDA library is loaded first, and the simulated device is put in front of it. The
libraries are those of the installed torch; no Python module is imported from it here.
"""
import ctypes
import importlib.util
import os
import pathlib
import re
import sys

from ._error import Error

# In this order; the first one brings NVIDIA's libraries.
_NAMES = ("libtorch_global_deps.so", "libc10.so", "libtorch_cpu.so", "libtorch_cuda.so")
_CUDA = 1  # c10/core/DeviceType.h


def torch_folder() -> pathlib.Path:
    """Where the installed torch is, without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise Error("torch: is not installed.\n  symprof runs on LibTorch's libraries: pip install torch")
    return pathlib.Path(spec.submodule_search_locations[0])


def built_folder() -> pathlib.Path:
    """The folder of the extension and of a build's other outputs. An editable installation has this file elsewhere."""
    spec = importlib.util.find_spec(f"{__package__}._native")
    if spec is None or spec.origin is None:
        raise Error("symprof: the package was not built.\n  Install the wheel that `make wheel` builds (docs/guide/install.md)")
    return pathlib.Path(spec.origin).parent


def _check_version() -> None:
    """LibTorch's C++ interface changes with the minor version; its libraries would say so by the name of a missing symbol."""
    wanted = (built_folder() / "torch_version.txt").read_text()
    found = re.search(r"__version__ = '(.*?)'", (torch_folder() / "version.py").read_text())
    if found and not found[1].startswith(f"{wanted}."):
        raise Error(
            f"torch: found {found[1]} in {torch_folder()}, where this symprof was built with LibTorch {wanted}.\n"
            f"  Install torch {wanted} (pip install 'torch=={wanted}.*'), or a symprof that is built with that one (docs/guide/python.md)."
        )


def load() -> None:
    if "torch" in sys.modules:
        raise Error(
            "torch: was imported before symprof, and has already asked whether there is a GPU.\n"
            "  Write `import symprof` above `import torch`, or start the program with `python -m symprof run`."
        )
    _check_version()
    libraries = torch_folder() / "lib"
    try:
        for name in _NAMES:
            if (libraries / name).exists():
                ctypes.CDLL(str(libraries / name), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise Error(f"torch: its libraries do not load: {error}.\n  `python -c 'import torch'` says more.") from None


def environment() -> dict[str, str]:
    """For the package's command. It looks for LibTorch in the folder that the package is in; torch may be in another
    (`--system-site-packages`, `--user`)."""
    if (built_folder().parent / "torch").exists():
        return dict(os.environ)
    folders = [str(torch_folder() / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(filter(None, folders))}


def device_is_initialized(is_initialized: bool) -> None:
    """Tells torch's C++ whether CUDA is initialized, which it asks Python once. The function has no name in Python."""
    library = ctypes.CDLL(str(torch_folder() / "lib" / "libtorch_python.so"))
    set_requires_device_init = library["_ZN5torch5utils24set_requires_device_initEN3c1010DeviceTypeEb"]
    set_requires_device_init.argtypes = [ctypes.c_int8, ctypes.c_bool]
    set_requires_device_init(_CUDA, not is_initialized)
