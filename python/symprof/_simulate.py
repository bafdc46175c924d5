"""A program on a GPU that is not there."""
import contextlib
import functools
import pathlib
import threading
from typing import Any

from . import _costs, _imports, _native, _preload, _threads
from ._error import Error
from ._interrupts import uninterrupted
from ._places import library_folders
from ._profile import Profile
from ._settings import refuse_what_changes_a_graph, setting_texts


# The replacements of CUDA in torch are global: simulations of several threads take turns. Simulations may be nested.
_turn = threading.RLock()
_running: list["Run"] = []  # The innermost last.


def step() -> None:
    """Ends a training step, where symprof cannot detect it: in a program that calls it, updates of parameters end none.
    Outside of a simulation it does nothing."""
    if _running:
        _running[-1].end_step()


class Run:
    """The recording of a `simulate` block; `profile` is available once the block has ended."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._name = settings.pop("name", None) or "program"
        self._ranks = settings.pop("ranks", None)
        self._is_eager, self._settings = bool(settings.get("eager")), settings
        refuse_what_changes_a_graph(settings)
        self._texts = setting_texts(settings)
        self._alloc_conf = str(settings.get("alloc_conf") or "")
        self._program: Any = None
        self._compiler: Any = None
        self._handle: Any = None
        self._is_complete = False
        self._threads: _threads.Threads | None = None
        self._exits = contextlib.ExitStack()
        self.mode = settings.get("mode") or "train"
        self.steps = 0
        self._stop: tuple[int, type[BaseException]] | None = None
        self._asked: tuple[int | None, bool] = (None, False)
        self._wants_tapes = False
        self.tapes: Any = None  # Of the steps but the last one (want_tapes).

    @functools.cached_property
    def profile(self) -> Profile:
        """The last step that ended with `optimizer.step()`; without one, the whole block."""
        return Profile(self.handle)

    @property
    def handle(self) -> Any:
        """The native profile."""
        if self._handle is None:
            raise Error("simulate: has no profile yet.\n  It is there when the block has ended.")
        return self._handle

    def stop_after(self, steps: int, stop: type[BaseException]) -> None:
        """Raises `stop` in the program when so many steps have ended."""
        self._stop = (steps, stop)

    def report_step(self, step: int | None, between: bool = False) -> None:
        """Chooses the step of the profile, counted from 1; with `between`, the passes without gradients before it."""
        self._asked = (step, between)

    def want_tapes(self) -> None:
        """The block has no profile then, but `tapes`: what each step asks of the allocator (symprof._native.RunTapes)."""
        self._wants_tapes = True

    def count_step(self) -> None:
        """A step may have ended."""
        self.steps = self._program.steps()
        if self._stop is not None and self.steps >= self._stop[0]:
            raise self._stop[1]()

    def _run_code_file(self, path: pathlib.Path) -> None:
        """Runs an output_code.py of torch.compile, as one step."""
        if self._compiler is None:
            raise Error("eager: code that torch.compile wrote is not run eagerly.\n  Leave the setting out.")
        self._compiler.run_file(path)
        self.count_step()

    def add_input(self, tensor: Any) -> Any:
        """Declares a tensor on the device as an input of the program; returns it."""
        self._program.add_input(tensor)
        return tensor

    def end_step(self) -> None:
        """Ends a step. In a program that calls it, updates of parameters end none."""
        self._program.mark_step()
        self.count_step()

    def __enter__(self) -> "Run":
        try:
            with uninterrupted():
                self._enter()
        except BaseException:  # An interrupt, too, leaves nothing behind.
            with uninterrupted():
                self._exits.close()
            raise
        return self

    def _enter(self) -> None:
        with _imports.uncollected():
            import torch

        from . import (_allocator, _compile, _cuda, _cuda_graphs, _given, _higher_order, _kernels, _lbfgs, _native_libraries, _numbers,
                       _observe, _parts, _python_kernels, _queries, _ranks, _rhythm, _saved_hooks, _tensor_methods, _torchscript,
                       _triton, _values)
        from ._compiled.compiler import Compiler

        self._exits.enter_context(_turn)
        self._exits.enter_context(_imports.quick())
        cuda: Any = torch.cuda
        self._exits.callback(_preload.device_is_initialized, cuda.is_initialized())
        _native.set_library_folders(list(library_folders()))
        self._exits.callback(self._end)
        self._program = _native.Program(self._texts)
        self._program.set_name(self._name)
        _native.look_inside_wrappers_by(_parts.parts_of_wrapper)
        self._exits.enter_context(_kernels.of_cpp())
        self._exits.enter_context(_torchscript.operators_one_by_one())
        self._exits.enter_context(_given.inside(self._program))
        allocator = _allocator.Allocator(self._program, self._alloc_conf)
        rhythm = _rhythm.Rhythm(self.count_step)
        captures = _cuda_graphs.Captures(self._program, rhythm)
        self._exits.callback(captures.close)
        answers = {**_cuda.answers(self._program, self._ranks or 1), **allocator.answers(), **_queries.answers(self._program),
                   **_values.readers(self._program), **_tensor_methods.answers(self._program), **_numbers.answers(self._program, captures.refuse_reads),
                   **_triton.answers(self._program), **_kernels.dispatchers(), **_native_libraries.answers(self._program),
                   **_higher_order.answers(self._program), **_python_kernels.answers(self._program), **_lbfgs.answers(self._program),
                   **_saved_hooks.answers(), **captures.answers()}
        replaced = self._exits.enter_context(_cuda.replaced(answers))
        self._exits.enter_context(_native_libraries.packages(self._program))
        self._exits.enter_context(_ranks.group_of(self._ranks, self._program))
        self._compiler = compiler = None if self._is_eager else Compiler(self._program, replaced, lambda: observer, self._settings)
        self._exits.enter_context(_compile.compiled(self._program, compiler))
        observer = self._exits.enter_context(_observe.observed(self._program, rhythm, lambda: _running[-1:] == [self]))
        self._threads = self._exits.enter_context(_threads.watched())
        self._exits.callback(_running.pop)
        _running.append(self)

    def __exit__(self, *error: Any) -> None:
        if isinstance(error[1], Exception) and (line := self._program.last_stand_in()):
            error[1].add_note(f"symprof: {line}")
        of_thread = self._threads.error if self._threads is not None and error[0] in (None, KeyboardInterrupt) else None
        with uninterrupted():
            self._is_complete = error[0] is None and of_thread is None
            self._exits.close()
        if of_thread is not None:
            raise of_thread from None

    def _end(self) -> None:
        """The device is there until torch has its own answers back."""
        program, self._program = self._program, None
        if program is not None and self._is_complete:
            self.steps = program.steps()
            if self._wants_tapes:
                self.tapes = program.finish_tapes(_costs.operators(), _costs.ask)
                return
            self._handle = program.finish(_costs.operators(), _costs.ask, *self._asked)
        elif program is not None:
            program.close()


def simulate(device: str = "h200", *, name: str = "", ranks: int | None = None, **settings: Any) -> Run:
    """A block in which `cuda` is the simulated device, and tensors there have no storage.

    `name` is the name in reports. With `ranks` the program is rank 0 of so many (docs/guide/python.md). Settings have the
    names of the command's options: `attention="flash"`, `alloc_conf="expandable_segments:True"`."""
    return Run({"device": device, "name": name, "ranks": ranks, **settings})

