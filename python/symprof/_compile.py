"""torch.compile in a simulation: which functions PyTorch's compiler compiles (_compiled/), and which run eagerly. A report
notes the latter once one is called."""
import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ._compiled.compiler import Compiler
from ._cuda import replaced

_WORDS = "torch.compile: what it compiles ran eagerly; a compiled step may hold less memory, and other kernels run."
# Backends that run PyTorch's own kernels, as "eager" does: torch.cond and its kin trace with one of them.
_DEBUGGING = "torch._dynamo.backends.debugging"
_OWN_KERNELS = ("eager", "eager_noexcept", "aot_eager", "aot_eager_decomp_partition")


def _runs_own_kernels(backend: Any) -> bool:
    backend = getattr(backend, "compiler_fn", backend)  # torch._TorchCompileWrapper
    return backend in _OWN_KERNELS or getattr(backend, "__module__", None) == _DEBUGGING


def _is_inductor(backend: Any) -> bool:
    return backend == "inductor" or isinstance(backend, torch._TorchCompileInductorWrapper)


def is_compiled() -> bool:
    """Whether a function that torch.compile returned is among the callers."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code is _CALL or (code.co_name == "compile_wrapper" and code.co_filename.endswith("_dynamo/eval_frame.py")
                             and not _runs_own_kernels(_backend_of(frame.f_locals.get("callback")))):
            return True
        frame = frame.f_back
    return False


def _backend_of(callback: Any) -> Any:
    """The backend inside torch._dynamo's wrappers."""
    while hasattr(callback, "_torchdynamo_orig_backend"):
        callback = callback._torchdynamo_orig_backend
    return callback


class _Compiled:
    """A function that torch.compile gives, without torch._dynamo, whose import takes seconds."""

    def __init__(self, function: Callable[..., Any], called: Callable[[], None]) -> None:
        self.function, self.called = function, called

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.called()
        return self.function(*args, **kwargs)


_CALL = _Compiled.__call__.__code__


def _compiled(function: Callable[..., Any], called: Callable[[], None]) -> Callable[..., Any]:
    call = _Compiled(function, called)

    @functools.wraps(function)
    def compile_wrapper(*args: Any, **kwargs: Any) -> Any:  # A function: a class binds it as a method.
        return call(*args, **kwargs)

    compile_wrapper._torchdynamo_orig_callable = function  # type: ignore[attr-defined]
    return compile_wrapper


class _Dynamo:
    """torch._dynamo, once it is imported: it compiles for Inductor, if a compiler is given; else it compiles nothing. It
    reports calls of functions that it does not compile."""

    def __init__(self, called: Callable[[], None], compiler: Compiler | None, exits: contextlib.ExitStack) -> None:
        self.called, self.compiler, self.exits, self.is_held = called, compiler, exits, False

    def hold(self) -> None:
        if self.is_held:
            return
        self.is_held = True
        eval_frame: Any = sys.modules["torch._dynamo.eval_frame"]
        before = eval_frame._callback_from_stance

        def callback_from_stance(callback: Any) -> Any:
            if callback in (None, False):
                return before(callback)
            backend = _backend_of(callback)
            if self.compiler is not None and _is_inductor(backend):
                self.compiler.open()
                return before(callback)
            if not _runs_own_kernels(backend):
                self.called()
            return None

        eval_frame._callback_from_stance = callback_from_stance
        self.exits.callback(setattr, eval_frame, "_callback_from_stance", before)


def _runs_as_it_is(model: Any) -> bool:
    """FlexAttention has operators of its own here, which are its compiled kernels (_flex_attention.py, _block_masks.py)."""
    return getattr(model, "__module__", None) == "torch.nn.attention.flex_attention"


@contextlib.contextmanager
def compiled(program: Any, compiler: Compiler | None) -> Iterator[None]:
    """While the context is open, torch.compile compiles by `compiler`; without one, it returns functions that run eagerly."""
    compile_as_it_is = torch.compile

    def called() -> None:
        program.warn(_WORDS)

    def compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:
        if model is None:
            return lambda function: compile(function, *args, **kwargs)
        backend = kwargs.get("backend", "inductor")
        if compiler is not None and _is_inductor(backend) and not _runs_as_it_is(model) and not kwargs.get("disable"):
            compiler.open()
            dynamo.hold()
            return _in_its_module(model, compile_as_it_is(model, *args, **kwargs), compiler)
        if kwargs.get("disable") or isinstance(model, (torch.nn.Module, type)):
            made = compile_as_it_is(model, *args, **kwargs)
            dynamo.hold()
            return made
        if _runs_own_kernels(backend):
            return model
        return _compiled(model, (lambda: None) if _runs_as_it_is(model) else called)

    with contextlib.ExitStack() as exits:
        if compiler is not None:
            exits.callback(compiler.close)
        dynamo = _Dynamo(called, compiler, exits)
        if "torch._dynamo.eval_frame" in sys.modules:
            dynamo.hold()
        # Used only for a warning (torch._dynamo); the hooks are the simulation's.
        exits.enter_context(replaced({(torch.nn.modules.module, "_has_any_global_hook"): lambda: False}))
        exits.callback(setattr, torch, "compile", compile_as_it_is)
        torch.compile = compile
        yield


def _in_its_module(function: Any, made: Any, compiler: Compiler) -> Any:
    """nn.Module.compile compiles its module's call with all hooks: no hook reports that the module's code runs."""
    module = getattr(function, "__self__", None)
    if not isinstance(module, torch.nn.Module) or getattr(function, "__func__", None) is not torch.nn.Module._call_impl:
        return made

    @functools.wraps(made)
    def call(*args: Any, **kwargs: Any) -> Any:
        with compiler.in_module(module):
            return made(*args, **kwargs)

    return call
