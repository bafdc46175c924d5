"""Libraries that call CUDA themselves: they receive the address of a tensor, which a tensor of a simulation lacks. Such a
request is refused at the program's line. Functions of packages that have the same meaning in PyTorch are replaced once their
module is imported.
"""
import contextlib
import importlib.abc
import importlib.machinery
import logging
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from ._cuda import replaced
from ._error import Error

Answers = dict[tuple[Any, str], Any]
_OPERATOR = "Give the library's work as an operator of torch.library with a fake kernel (register_fake), or switch the library off."


def answers(program: Any) -> Answers:
    """By class, or module, and name."""
    array_interface: Any = torch.Tensor.__cuda_array_interface__
    to_dlpack: Any = torch.Tensor.__dlpack__

    def refuse(tensor: torch.Tensor, what: str) -> None:
        if program.has_no_values(tensor):
            raise Error(f"{what}: gives another library (CuPy, Numba, JAX) the memory of a simulated tensor, which has none.\n"
                        f"  {_OPERATOR}")

    def cuda_array_interface(self: torch.Tensor) -> Any:
        refuse(self, "__cuda_array_interface__")
        return array_interface.fget(self)

    def dlpack(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        refuse(self, "DLPack")
        return to_dlpack(self, *args, **kwargs)

    return {
        (torch.Tensor, "__cuda_array_interface__"): property(cuda_array_interface),
        (torch.Tensor, "__dlpack__"): dlpack,
    }


def _cpp_extension(module: Any, program: Any) -> Answers:
    """Code that nvcc would compile (torch/utils/cpp_extension.py)."""
    load, load_inline = module.load, module.load_inline

    def refuse_cuda(name: str, has_cuda: bool) -> None:
        if has_cuda:
            raise Error(f"the extension {name}: is compiled for CUDA, and its kernels cannot run in a simulation.\n  {_OPERATOR}")

    def load_unless_cuda(name: str, sources: Any, *args: Any, **kwargs: Any) -> Any:
        files = [sources] if isinstance(sources, str) else list(sources)
        refuse_cuda(name, bool(kwargs.get("with_cuda")) or any(str(file).endswith((".cu", ".cuh")) for file in files))
        return load(name, sources, *args, **kwargs)

    def load_inline_unless_cuda(name: str, cpp_sources: Any, cuda_sources: Any = None, *args: Any, **kwargs: Any) -> Any:
        refuse_cuda(name, bool(kwargs.get("with_cuda")) or bool(cuda_sources))
        return load_inline(name, cpp_sources, cuda_sources, *args, **kwargs)

    return {(module, "load"): load_unless_cuda, (module, "load_inline"): load_inline_unless_cuda}


def _bitsandbytes(module: Any, program: Any) -> Answers:
    """Managed memory (bitsandbytes/functional.py: get_paged) is none of the allocator's: its tensors are on the host here, and
    nothing fills them."""

    def get_paged(*shape: int, dtype: Any = torch.float32, device: Any = None) -> Any:
        program.warn("bitsandbytes: paged states are managed memory of CUDA, which is in no figure: it moves between host and device.")
        paged: Any = torch.empty(shape, dtype=dtype, pin_memory=True)
        paged.is_paged, paged.page_deviceid = True, 0
        return paged

    return {(module, "get_paged"): get_paged, (module, "prefetch_tensor"): lambda *args, **kwargs: None,
            (module, "fill"): lambda *args, **kwargs: None}


def _torchvision(module: Any, program: Any) -> Answers:
    """Operators of a torchvision that was built for another PyTorch are missing: PyPI's beside a PyTorch without CUDA."""
    assert_has_ops = module._assert_has_ops

    def has_operators() -> None:
        try:
            assert_has_ops()
        except RuntimeError:
            version = getattr(sys.modules["torchvision"], "__version__", "")
            raise Error(f"torchvision {version}: its operators do not load beside torch {torch.__version__}, with or without symprof.\n"
                        "  Install torchvision from the package index that this torch came from.") from None

    return {(module, "_assert_has_ops"): has_operators}


# By module: the replacement of its functions, once it is imported.
_PACKAGES: dict[str, Callable[[Any, Any], Answers]] = {
    "torch.utils.cpp_extension": _cpp_extension,
    "bitsandbytes.functional": _bitsandbytes,
    "bitsandbytes.cextension": lambda module, program: {},
    **{f"torchvision.ops.{name}": _torchvision for name in ("boxes", "deform_conv", "ps_roi_align", "ps_roi_pool", "roi_align", "roi_pool")},
}
# They log that CUDA's libraries are not there, which a simulation does not need.
_LOADERS_OF_CUDA = ("bitsandbytes.cextension",)


class _Loader(importlib.abc.Loader):
    """Loads as another loader, then calls back."""

    def __init__(self, loader: Any, tell: Callable[[Any], None]) -> None:
        self.loader = loader
        self.tell = tell

    def create_module(self, spec: Any) -> types.ModuleType | None:
        module: types.ModuleType | None = self.loader.create_module(spec)
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        logger = logging.getLogger(module.__name__)
        was_disabled = logger.disabled
        logger.disabled = was_disabled or module.__name__ in _LOADERS_OF_CUDA
        try:
            self.loader.exec_module(module)
        finally:
            logger.disabled = was_disabled
        self.tell(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of the table as Python would without it."""

    def __init__(self, tell: Callable[[Any], None]) -> None:
        self.tell = tell

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in _PACKAGES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.tell)
        return spec


@contextlib.contextmanager
def packages(program: Any) -> Iterator[None]:
    """While the context is open, functions of the packages in the table are replaced, also of packages imported later."""
    with contextlib.ExitStack() as exits:

        def replace(module: Any) -> None:
            exits.enter_context(replaced(_PACKAGES[module.__name__](module, program)))

        for name in _PACKAGES:
            if name in sys.modules:
                replace(sys.modules[name])
        finder = _Finder(replace)
        sys.meta_path.insert(0, finder)
        exits.callback(sys.meta_path.remove, finder)
        yield
