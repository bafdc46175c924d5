"""Re-profiling with other sizes or settings."""
import functools
import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from . import _native
from ._error import Error
from ._settings import OF_MODULES, refuse_what_changes_a_graph, setting_texts

NO_JOB = _native.job_of("", "", "")
_NO_GRAPH = ("plan_{kind}: checkpoint plans and layouts change a graph, and a program has none.\n"
             "  symprof.profile(torch.export.export(model, args), …) has one, and so has a file.")


class Again(Protocol):
    """The source of a profile, for profiling it again."""

    def profile(self, changes: dict[str, Any]) -> tuple[Any, "Again"]:
        """The handle of another profile, and its source."""

    def fit(self, devices: Sequence[str], job: Any) -> Any:
        """The handle of a fit, with the costs of a job."""

    def largest(self, name: str, devices: Sequence[str]) -> list[int | None]:
        """The largest size for each device."""

    def formulas(self, names: Sequence[str], request: Any) -> Any:
        """The handle of the formulas."""

    def plan(self, kind: str, *question: Any) -> Any:
        """The handle of a plan: `kind` is checkpoint, throughput or parallel."""


class File:
    """A model file with settings. `keeps` lives as long as it."""

    def __init__(self, model: Any, settings: dict[str, Any], kernels: Callable[[], Any], keeps: Any = None) -> None:
        self._model, self._settings, self._kernels, self._keeps = model, settings, kernels, keeps

    def profile(self, changes: dict[str, Any]) -> tuple[Any, "File"]:
        settings = {**self._settings, **changes}
        with self._kernels():
            return self._model.profile(setting_texts(settings)), File(self._model, settings, self._kernels, self._keeps)

    def fit(self, devices: Sequence[str], job: Any) -> Any:
        with self._kernels():
            return self._model.fit(setting_texts(self._settings), list(devices), "", job)

    def largest(self, name: str, devices: Sequence[str]) -> list[int | None]:
        with self._kernels():
            answer = json.loads(self._model.fit(setting_texts(self._settings), list(devices), name, NO_JOB).json())
        return [device["largest"]["size"] for device in answer["devices"]]

    def formulas(self, names: Sequence[str], request: Any) -> Any:
        with self._kernels():
            return self._model.formulas(setting_texts(self._settings), list(names), request)

    def plan(self, kind: str, *question: Any) -> Any:
        with self._kernels():
            return getattr(self._model, f"plan_{kind}")(setting_texts(self._settings), *question)


class Call:
    """A module and the arguments of its call. `run` takes the sizes and the settings, and returns a handle; `handle` is that
    of these sizes and settings. Many runs share one `kernels()`, which takes longer to close than a run of a small model."""

    def __init__(self, run: Callable[[dict[str, int], dict[str, Any]], Any], sizes: dict[str, int], settings: dict[str, Any],
                 kernels: Callable[[], Any], handle: Any = None) -> None:
        self._run, self._sizes, self._settings, self._kernels, self._handle = run, sizes, settings, kernels, handle

    def profile(self, changes: dict[str, Any]) -> tuple[Any, "Call"]:
        sizes = {name: changes.get(name, size) for name, size in self._sizes.items()}
        settings = {**self._settings, **{name: value for name, value in changes.items() if name not in sizes}}
        refuse_what_changes_a_graph(settings, OF_MODULES, sizes)
        handle = self._run(sizes, settings)
        return handle, Call(self._run, sizes, settings, self._kernels, handle)

    def _on(self, device: str, sizes: dict[str, int], job: Any) -> Any:
        settings = {**self._settings, "device": device}
        is_this = sizes == self._sizes and settings == self._settings
        return _native.fit_of(self._handle if is_this and self._handle is not None else self._run(sizes, settings), job)

    def _devices(self, devices: Sequence[str]) -> list[str]:
        return list(devices) or [self._settings["device"]]

    def fit(self, devices: Sequence[str], job: Any) -> Any:
        return _native.joined_fits([self._on(device, self._sizes, job) for device in self._devices(devices)])

    def largest(self, name: str, devices: Sequence[str]) -> list[int | None]:
        start = self._size(name)

        def fits_on(device: str) -> Callable[[int], bool]:
            def fits(size: int) -> bool:
                try:
                    return bool(self._on(device, {**self._sizes, name: size}, NO_JOB).fits())
                except (RuntimeError, ValueError, IndexError):
                    if size == start:
                        raise
                    return False  # The model does not run with so much.

            return fits

        with self._kernels():
            return [_native.largest_size(start, fits_on(device)) for device in self._devices(devices)]

    def formulas(self, names: Sequence[str], request: Any) -> Any:
        starts = [(name, self._size(name)) for name in names]
        sized = lambda sizes: self._run({**self._sizes, **dict(zip(names, sizes, strict=True))}, self._settings)
        with self._kernels():
            return _native.formulas_of(starts, setting_texts({"device": self._settings["device"]}), sized, request)

    def plan(self, kind: str, *question: Any) -> Any:
        """Batches are tried as they are: a checkpoint plan needs a graph."""
        if kind != "throughput" or question[2]:
            raise Error(_NO_GRAPH.format(kind=kind))
        devices, budget, _ = question
        self._size("batch")
        with self._kernels():
            run = functools.cache(self._with_batch)
            start = 2 if run(self._devices(devices)[0], 1) is None else 1  # Exports may exclude 1.
            return _native.throughput_of(self._devices(devices), budget, start, run)

    def _with_batch(self, device: str, batch: int) -> Any:
        """None where the model does not run with it."""
        settings = {**self._settings, "device": device, "time": True}
        try:
            return self._run({**self._sizes, "batch": batch}, settings)
        except (RuntimeError, ValueError, IndexError, AssertionError):
            if batch == self._sizes["batch"]:
                raise
            return None

    def _size(self, name: str) -> int:
        if name not in self._sizes:
            raise Error(f"{name}: is no dimension of the inputs.\n  There is {', '.join(self._sizes) or 'none'}.")
        return self._sizes[name]


class Program:
    """A program that has run. It cannot be rerun from here."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def fit(self, devices: Sequence[str], job: Any) -> Any:
        if devices:
            raise self._error("fit(device)", "on another device")
        return _native.fit_of(self._handle, job)

    def profile(self, changes: dict[str, Any]) -> tuple[Any, "Again"]:
        raise self._error("at()", "with changes")

    def largest(self, name: str, devices: Sequence[str]) -> list[int | None]:
        raise self._error("largest()", "at other sizes")

    def formulas(self, names: Sequence[str], request: Any) -> Any:
        raise self._error("formulas()", "at other sizes")

    def plan(self, kind: str, *question: Any) -> Any:
        raise Error(_NO_GRAPH.format(kind=kind))

    @staticmethod
    def _error(what: str, how: str) -> Error:
        return Error(f"{what}: a program that ran cannot run a second time {how}.\n"
                     "  symprof.profile(model, *args) is; or run the program anew.")
