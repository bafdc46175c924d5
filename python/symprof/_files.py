"""Profiles of model files."""
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import weakref
from typing import Any

from . import _native
from ._again import File
from ._error import Error
from ._profile import Profile


def kernels_of_cpp() -> contextlib.AbstractContextManager[None]:
    """Without torch in the process there are only C++ kernels."""
    if "torch" not in sys.modules:
        return contextlib.nullcontext()
    from . import _kernels

    return _kernels.of_cpp()


def profile(model: Any, *args: Any, **settings: Any) -> Profile:
    """The profile of one step of a model.

    `model` is a file (.pt2, .pt, .onnx), the bytes of one, an ExportedProgram, or a torch.nn.Module and the arguments of its
    call. Settings have the names of the command's options (`optimizer="adamw"`, `autocast="bf16"`). Other names are sizes of
    dimensions (`batch=8`). A module runs unchanged: it takes `kwargs={…}` for its call, a function `loss` of its output, and
    of the settings those of _settings.OF_PROGRAMS, `autocast`, `optimizer` and `micro_batches`. With `compile=True` an
    exported program (.pt2) runs as torch.compile compiles it, with a module's settings. Raises Error."""
    if settings.pop("compile", False):
        return _compiled(model, settings)
    if isinstance(model, (str, os.PathLike)):
        return _of_file(os.fspath(model), settings)
    if isinstance(model, (bytes, bytearray)):
        return _of_bytes(bytes(model), settings)
    from ._module import is_exported, profile_module, written

    if is_exported(model):
        return _of_bytes(written(model), settings)
    return profile_module(model, *args, **settings)


def _compiled(model: Any, settings: dict[str, Any]) -> Profile:
    from ._exported import profile_compiled
    from ._module import is_exported

    if not is_exported(model) and not isinstance(model, (str, os.PathLike)):
        raise Error(f"compile: found {type(model).__name__}, wanted a .pt2 file or an ExportedProgram.\n"
                    "  A module is given compiled: symprof.profile(torch.compile(model), x).")
    return profile_compiled(model, settings)


def _of_file(path: str, settings: dict[str, Any], keeps: Any = None) -> Profile:
    model = File(_native.Model(path), settings, kernels_of_cpp, keeps)
    return Profile(*model.profile({}))


def _of_bytes(data: bytes, settings: dict[str, Any]) -> Profile:
    """The folder is there as long as the model: TorchScript's file is read again for other sizes."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="symprof"))
    path = folder / ("model.pt2" if data.startswith(b"PK") else "model.onnx")
    path.write_bytes(data)
    keeps = Folder()
    weakref.finalize(keeps, shutil.rmtree, folder, ignore_errors=True)
    return _of_file(str(path), settings, keeps)


class Folder:
    """A temporary folder goes with it."""
