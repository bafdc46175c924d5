"""torch.compile in a simulation: what it compiles runs eagerly, and a report says so once it is called."""
import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

_WORDS = "torch.compile: what it compiles ran eagerly; a compiled step may hold less memory, and other kernels run."
# Backends that run PyTorch's own kernels, as "eager" does: torch.cond and its kin trace with one of them.
_DEBUGGING = "torch._dynamo.backends.debugging"
_OWN_KERNELS = ("eager", "eager_noexcept", "aot_eager", "aot_eager_decomp_partition")


def _runs_own_kernels(backend: Any) -> bool:
    backend = getattr(backend, "compiler_fn", backend)  # torch._TorchCompileWrapper
    return backend in _OWN_KERNELS or getattr(backend, "__module__", None) == _DEBUGGING


def is_compiled() -> bool:
    """Whether a function that torch.compile gave is among the callers."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code is _CALL or (code.co_name == "compile_wrapper" and code.co_filename.endswith("_dynamo/eval_frame.py")
                             and not _runs_own_kernels(_backend_of(frame.f_locals.get("callback")))):
            return True
        frame = frame.f_back
    return False


def _backend_of(callback: Any) -> Any:
    """What torch._dynamo's wrappers of a backend hold in the end."""
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
    """torch._dynamo, once it is imported: it compiles nothing, and tells of calls of what it would compile."""

    def __init__(self, called: Callable[[], None], exits: contextlib.ExitStack) -> None:
        self.called, self.exits, self.is_held = called, exits, False

    def hold(self) -> None:
        if self.is_held:
            return
        self.is_held = True
        self.exits.enter_context(torch.compiler.set_stance("force_eager"))
        eval_frame: Any = sys.modules["torch._dynamo.eval_frame"]
        before = eval_frame._callback_from_stance

        def callback_from_stance(callback: Any) -> Any:
            if callback not in (None, False) and not _runs_own_kernels(_backend_of(callback)):
                self.called()
            return before(callback)

        eval_frame._callback_from_stance = callback_from_stance
        self.exits.callback(setattr, eval_frame, "_callback_from_stance", before)


@contextlib.contextmanager
def runs_eagerly(program: Any) -> Iterator[None]:
    """While it is open, what torch.compile gives is called as it is."""
    compile_as_it_is = torch.compile

    def called() -> None:
        program.warn(_WORDS)

    def compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:
        if model is None:
            return lambda function: compile(function, *args, **kwargs)
        if kwargs.get("disable") or isinstance(model, (torch.nn.Module, type)):
            made = compile_as_it_is(model, *args, **kwargs)
            dynamo.hold()
            return made
        return model if _runs_own_kernels(kwargs.get("backend")) else _compiled(model, called)

    with contextlib.ExitStack() as exits:
        dynamo = _Dynamo(called, exits)
        if "torch._dynamo.eval_frame" in sys.modules:
            dynamo.hold()
        exits.callback(setattr, torch, "compile", compile_as_it_is)
        torch.compile = compile
        yield
