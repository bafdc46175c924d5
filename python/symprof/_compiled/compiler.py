"""The compiler of a simulation: it opens when something is compiled, and leaves torch as it was."""
import contextlib
import importlib
import os
import pathlib
import sys
import tempfile
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from .. import _cuda, _device_properties
from . import cache, running
from .cuda_graphs import CudaGraphs
from .outside import outside

# Imported before the simulation replaces anything in torch: these modules copy what they find there.
_MODULES = ("torch._dynamo", "torch._dynamo.device_interface", "torch._inductor.compile_fx", "torch._inductor.async_compile",
            "torch._inductor.codegen.triton", "torch._inductor.codegen.wrapper", "torch._inductor.kernel.mm_grouped",
            "torch._inductor.fx_passes.joint_graph", "torch._inductor.fx_passes.post_grad", "torch._inductor.cudagraph_trees",
            "torch._functorch._aot_autograd.autograd_cache")
_FOLDER = "TORCHINDUCTOR_CACHE_DIR"
_OF_TRACES = ("attention", "float32_matmul_precision")  # Settings by which kernels are chosen while a graph is traced.
_GENERATED = "torch._inductor.runtime.compile_tasks."  # Modules of generated code.


class Compiler:
    """`answers` are the simulation's replacements in torch; `observer` returns the object that knows its modules
    (symprof._observe.Observer); `settings` are those of the simulation."""

    def __init__(self, program: Any, answers: _cuda.Replaced, observer: Callable[[], Any], settings: dict[str, Any]) -> None:
        self.program = program
        self._is_cached = not settings.get("no_cache")
        self._choices = tuple(str(settings.get(name)) for name in _OF_TRACES)
        self.cache: cache.Cache | None = None
        self._answers, self._observer = answers, observer
        self.cuda_graphs = CudaGraphs(program)
        self._exits = contextlib.ExitStack()
        self._is_open = False
        self.unpadded: dict[str, None] = {}  # Products that the device might pad.
        self.unwritten: list[str] = []  # Those of them that no code names yet.
        self.code_file: Any = None  # That runs (code_files.CodeFile).
        self._around = ""  # The module in which the function is called that is compiled.
        self._optimizers: dict[int, torch.optim.Optimizer] = {}  # Whose step is traced.

    def places(self) -> dict[int, tuple[str, str]]:
        """Path and type of a module by its id."""
        places: dict[int, tuple[str, str]] = self._observer().places
        return places

    def note_module(self, module: torch.nn.Module) -> None:
        """Called in a compiled function, where the program's hooks do not report it."""
        self._observer().see(module)

    def note_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        self._optimizers[id(optimizer)] = optimizer

    def taken_optimizers(self) -> list[torch.optim.Optimizer]:
        """The optimizers whose steps are in the traced graph."""
        found, self._optimizers = list(self._optimizers.values()), {}
        return found

    @contextlib.contextmanager
    def updating(self, optimizers: list[torch.optim.Optimizer]) -> Iterator[None]:
        """Reports the updates of a compiled step, which run no optimizer hooks, to the observer."""
        observer = self._observer()
        for optimizer in optimizers:
            observer.before_update(optimizer, (), {})
        try:
            yield
        finally:
            for optimizer in reversed(optimizers):
                observer.after_update(optimizer, (), {})

    def note_place(self) -> None:
        self._around = self._observer().path()

    def relative(self, path: str | None) -> str:
        """The path relative to the module around the function, if it is inside: equal blocks share their code."""
        if path is None or path == self._around:
            return "."
        around = f"{self._around}." if self._around else ""
        return f".{path.removeprefix(around)}" if path.startswith(around) else path

    @contextlib.contextmanager
    def in_module(self, module: torch.nn.Module) -> Iterator[None]:
        """As hooks of the program's say it of a module that is not compiled."""
        observer = self._observer()
        observer.enter_module(module, None)
        try:
            yield
        finally:
            observer.leave_module(module, None, None)

    def run_file(self, path: pathlib.Path) -> None:
        """An output_code.py."""
        from . import code_files

        self.open()
        self.code_file = code_files.CodeFile(path)
        try:
            code_files.run(self.code_file)
        finally:
            self.code_file = None

    def open(self) -> None:
        """Once; nothing is imported or changed before."""
        if self._is_open:
            return
        self._is_open = True
        with outside, self._answers.away():
            for module in _MODULES:
                importlib.import_module(module)
        self._exits.callback(outside.close)
        self._exits.enter_context(_in_own_folder())
        self._exits.enter_context(_forgetting())
        with outside:
            from .answers import answers

            if self._is_cached:
                device = self.program.device()
                self.cache = cache.opened(sorted(vars(_device_properties.of(device)).items()), self._choices)
            table = {**answers(self.program), **(self.cache.answers() if self.cache is not None else {})}
            running.keep_originals(table)
        self._exits.enter_context(_cuda.replaced(table))
        for name, value in cache.settings_of(self.cache).items():
            self._exits.enter_context(_set("torch._functorch.config", name, value))
        # A frame on which torch._dynamo fails runs eagerly; torch logs it.
        self._exits.enter_context(_set("torch._dynamo.config", "suppress_errors", True))
        self._exits.enter_context(_listening())
        _run_as_they_are(type(self._observer()).hooks())
        running.compilers.append(self)
        self._exits.callback(running.compilers.remove, self)

    def close(self) -> None:
        if self.unpadded:
            self.program.warn(f"torch.compile: PyTorch times products whose sizes are no multiples of 8 ({_listed(self.unpadded)}), and pads "
                              "them where that pays. Here they are not padded; torch._inductor.config.force_shape_pad = True shows the other case.")
        self._exits.close()
        if self.cache is not None:
            self.cache.close()
        _forget_answers(self._answers)


def _listed(names: Iterable[str], most: int = 3) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _forget_answers(answers: _cuda.Replaced) -> None:
    """The program may have imported torch._dynamo itself, which then has copies of the simulation's answers."""
    module: Any = sys.modules.get("torch._dynamo.device_interface")
    if module is None:
        return
    before = {id(value): answers.before[place] for place, value in answers.table.items() if callable(value)}
    for owner in (module, module.CudaInterface):
        for name, value in list(vars(owner).items()):
            copied = value.__func__ if isinstance(value, staticmethod) else value
            real = before.get(id(copied), _cuda.ABSENT)
            if real is not _cuda.ABSENT:
                setattr(owner, name, staticmethod(real) if isinstance(value, staticmethod) else real)


def _set(module: str, name: str, value: Any) -> Any:
    """Sets a torch config value while the returned context is active."""
    patch: Any = importlib.import_module(module).patch
    return patch(name, value)


@contextlib.contextmanager
def _in_own_folder() -> Iterator[None]:
    """Inductor writes its cache into a temporary folder, which is deleted afterwards."""
    before = os.environ.get(_FOLDER)
    with tempfile.TemporaryDirectory(prefix="symprof_compiled", ignore_cleanup_errors=True) as folder:
        os.environ[_FOLDER] = folder
        try:
            yield
        finally:
            if before is None:
                os.environ.pop(_FOLDER, None)
            else:
                os.environ[_FOLDER] = before


def _forget_device() -> None:
    """Caches of answers about the device."""
    from torch._inductor import codecache, utils
    from torch._inductor.runtime import hints
    from torch.utils import _triton

    functions = [value for module in (utils, _triton) for value in vars(module).values()]
    for function in (*functions, hints.DeviceProperties.create, codecache.CacheBase.get_system):
        clear = getattr(function, "cache_clear", None)
        if callable(clear) and not isinstance(function, type):
            clear()


@contextlib.contextmanager
def _forgetting() -> Iterator[None]:
    """Separates the compiled code of the simulation from that outside."""
    from torch._C._dynamo import eval_frame
    from torch._dynamo import guards
    from torch._inductor.codecache import PyCodeCache

    codes: dict[int, Any] = {}
    make = guards.CheckFunctionManager.__init__

    def note(self: Any, f_code: Any, *args: Any, **kwargs: Any) -> Any:
        codes[id(f_code)] = f_code
        return make(self, f_code, *args, **kwargs)

    modules, names = list(PyCodeCache.modules), set(sys.modules)
    guards.CheckFunctionManager.__init__ = note  # type: ignore[method-assign]
    _forget_device()
    try:
        yield
    finally:
        guards.CheckFunctionManager.__init__ = make  # type: ignore[method-assign]
        for code in codes.values():
            eval_frame.reset_code(code)
        for name in set(sys.modules) - names:
            if name.startswith(_GENERATED):
                del sys.modules[name]
        PyCodeCache.modules[:] = modules  # Inductor empties it between graphs where it has no cache.
        _forget_device()


def _run_as_they_are(functions: Iterable[types.FunctionType]) -> None:
    """torch._dynamo compiles neither these functions nor what they call."""
    from torch._C._dynamo import eval_frame
    from torch._dynamo import types as of_dynamo

    frames: Any = of_dynamo
    for function in functions:
        eval_frame.set_code_exec_strategy(function.__code__, frames.FrameExecStrategy(frames.FrameAction.SKIP, frames.FrameAction.SKIP))


@contextlib.contextmanager
def _listening() -> Iterator[None]:
    """Listens to torch._dynamo's events of starting and finishing a compilation, later compiled backward passes included."""
    from torch._dynamo import callback

    handler: Any = callback.callback_handler
    handler.register_start_callback(outside.begin)
    handler.register_end_callback(outside.end)
    try:
        yield
    finally:
        handler.remove_start_callback(outside.begin)
        handler.remove_end_callback(outside.end)
