"""Loads LibTorch of the installed torch, before torch asks it whether there is a GPU.

PyTorch looks once for the hooks of CUDA and remembers the answer, so symprof's simulated device has to be there
before `import torch`. The libraries are those of the installed torch; nothing of Python is imported from it here.
"""
import ctypes
import importlib.util
import pathlib
import sys

from ._error import Error


def torch_folder() -> pathlib.Path:
    """Where the installed torch is, without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise Error("torch: is not installed.\n  symprof runs on LibTorch's libraries: pip install torch")
    return pathlib.Path(spec.submodule_search_locations[0])


def load() -> None:
    if "torch" in sys.modules:
        raise Error(
            "torch: was imported before symprof, and has already asked whether there is a GPU.\n"
            "  Write `import symprof` above `import torch`, or start the program with `python -m symprof run`."
        )
    libraries = torch_folder() / "lib"
    for name in ("libc10.so", "libtorch_cpu.so"):
        ctypes.CDLL(str(libraries / name), mode=ctypes.RTLD_GLOBAL)
