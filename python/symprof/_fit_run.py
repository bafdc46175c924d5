"""Whether a run over a loader's batches fits: each shape of a batch is recorded once, and all steps run in their order."""
import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_flatten

from ._error import Error
from ._loop_tapes import LoopTapes, Pass, record_loop
from ._module import OnDevice, _autocast, _backward, on_device
from ._optimizers import optimizer_of
from ._simulate import simulate

_CONFS = ("expandable_segments:True", "roundup_power2_divisions:4", "max_split_size_mb:256", "garbage_collection_threshold:0.8")


class Step(NamedTuple):
    """What the allocator holds after a pass; peaks since the pass before it."""

    shape: tuple[tuple[int, ...], ...]  # Of the batch's tensors, or of all of an evaluation's.
    allocated_bytes: int
    reserved_bytes: int
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    alloc_retries: int
    is_evaluation: bool = False  # Without gradients, between two updates.


class Planned(NamedTuple):
    """One pass of the run: of a batch, or an evaluation's of several."""

    key: Hashable
    shape: tuple[tuple[int, ...], ...]
    batches: tuple[Any, ...]
    is_evaluation: bool
    ends_window: bool  # An update follows, or it is an evaluation.


class Limits(NamedTuple):
    """What the allocator may take of a device."""

    device_bytes: int
    context_bytes: int
    memory_fraction: float  # As torch.cuda.set_per_process_memory_fraction has it: of the whole device.

    @property
    def free_bytes(self) -> int:
        return self.device_bytes - self.context_bytes

    @property
    def share_of_free(self) -> float:
        return min(1.0, self.memory_fraction * self.device_bytes / self.free_bytes)


class RunFit:
    """The answer of `fit_run`. It is true where the run fits."""

    def __init__(self, tapes: LoopTapes, passes: list[Planned], limits: Limits, alloc_conf: str) -> None:
        self._tapes, self._passes, self._limits, self._alloc_conf = tapes, passes, limits, alloc_conf
        self._there = tapes.play(alloc_conf, limits.free_bytes, limits.share_of_free)
        self.steps = self._steps(self._there)

    def _steps(self, memory: Any) -> list[Step]:
        rows = memory.rows[1:]  # The first is the model's, before the loop.
        return [Step(one.shape, row.allocated_bytes, row.reserved_bytes, row.peak_allocated_bytes, row.peak_reserved_bytes,
                     row.alloc_retries, one.is_evaluation)
                for one, row in zip(self._passes, rows, strict=False)]

    def __bool__(self) -> bool:
        return self._there.refused is None

    @property
    def refused_step(self) -> int | None:
        """The index of the pass in which a request is refused."""
        return None if self._there.refused is None else max(self._there.refused.row - 1, 0)

    @property
    def peak_step(self) -> int:
        """The index of the pass that first has the largest peak of allocated bytes."""
        return max(range(len(self.steps)), key=lambda i: self.steps[i].peak_allocated_bytes)

    @property
    def peak_allocated_bytes(self) -> int:
        return max(step.peak_allocated_bytes for step in self.steps)

    @property
    def peak_reserved_bytes(self) -> int:
        return max(step.peak_reserved_bytes for step in self.steps)

    @property
    def alloc_retries(self) -> int:
        return self.steps[-1].alloc_retries

    def with_settings(self, *, alloc_conf: str | None = None, memory_fraction: float | None = None) -> "RunFit":
        """The same run with other settings of the allocator, without another recording."""
        limits = self._limits if memory_fraction is None else self._limits._replace(memory_fraction=memory_fraction)
        return RunFit(self._tapes, self._passes, limits, self._alloc_conf if alloc_conf is None else alloc_conf)

    def helpful(self) -> dict[str, int]:
        """What the run reserves with other settings of the allocator, without a limit, the least first."""
        found = {conf: self._tapes.play(conf) for conf in (self._alloc_conf, *_CONFS)}
        peaks = {conf: max(row.peak_reserved_bytes for row in memory.rows) for conf, memory in found.items()}
        return dict(sorted(peaks.items(), key=lambda pair: pair[1]))

    def __str__(self) -> str:
        gib = 2**30
        peak = self.steps[self.peak_step]
        answer = "fits" if self else f"does not fit: pass {self.refused_step} of {len(self._passes)} is refused memory"
        return (f"{len(self._passes)} passes, {len({one.shape for one in self._passes})} shapes: {answer}\n"
                f"reserved   {self.peak_reserved_bytes / gib:.3f} GiB at the peak\n"
                f"allocated  {peak.peak_allocated_bytes / gib:.3f} GiB at the peak, in pass {self.peak_step} {list(peak.shape)}\n"
                f"retries    {self.alloc_retries}\n")


def fit_run(
    model: torch.nn.Module,
    loader: Iterable[Any],
    *,
    call: Callable[[torch.nn.Module, Any], Any] | None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
    steps: int | None = None,
    between: Mapping[int, Iterable[Any]] | None = None,
    context_bytes: int = 2**30,
    memory_fraction: float = 1.0,
    **settings: Any,
) -> RunFit:
    """Whether training over the loader's batches fits, batch for batch.

    The loader runs on the host, with its collate function; of each shape of a batch one is kept, to be recorded. A dictionary is
    passed to the model by name, a tuple or a list by position; `call(model, batch)` does otherwise. `loss` is a function of what
    the call returns, as in `profile`. `steps` ends the run early. `between` has evaluations: after every so many updates, a function runs
    these batches in `eval()` and under `no_grad()`. `context_bytes` of the device are CUDA's context, and `memory_fraction` of it is what
    torch.cuda.set_per_process_memory_fraction allows. Settings are those of `profile`."""
    accumulated = int(settings.get("micro_batches", 1))
    passes = _passes(itertools.islice(loader, steps), accumulated, {every: _evaluation(batches) for every, batches in (between or {}).items()})
    if not passes:
        raise Error("fit_run: the loader has no batches.")
    tapes, device_bytes = _recorded(model, passes, call or _call, loss, settings)
    return RunFit(tapes, passes, Limits(device_bytes, context_bytes, memory_fraction), str(settings.get("alloc_conf") or ""))


def _evaluation(batches: Iterable[Any]) -> Planned:
    held = tuple(batches)
    keys = [_key_of(batch) for batch in held]
    return Planned(("evaluation", tuple(key for key, _ in keys)), tuple(shape for _, shapes in keys for shape in shapes), held,
                   is_evaluation=True, ends_window=True)


def _passes(loader: Iterable[Any], accumulated: int, between: Mapping[int, Planned]) -> list[Planned]:
    """In their order. Of each shape the first batch is kept."""
    kept: dict[Hashable, Any] = {}
    passes: list[Planned] = []
    for number, batch in enumerate(loader, 1):
        key, shape = _key_of(batch)
        ends_window = number % accumulated == 0
        passes.append(Planned(key, shape, (kept.setdefault(key, batch),), is_evaluation=False, ends_window=ends_window))
        if ends_window:
            passes += [evaluation for every, evaluation in between.items() if number // accumulated % every == 0]
    return passes


def _key_of(batch: Any) -> tuple[Hashable, tuple[tuple[int, ...], ...]]:
    leaves, structure = tree_flatten(batch)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    others = tuple(repr(leaf) for leaf in leaves if not isinstance(leaf, torch.Tensor))
    shapes = tuple(tuple(tensor.shape) for tensor in tensors)
    return (str(structure), shapes, tuple(str(tensor.dtype) for tensor in tensors), others), shapes


def _call(model: torch.nn.Module, batch: Any) -> Any:
    if isinstance(batch, dict):
        return model(**batch)
    return model(*batch) if isinstance(batch, (tuple, list)) else model(batch)


def _recorded(model: torch.nn.Module, passes: list[Planned], call: Callable[[torch.nn.Module, Any], Any],
              loss: Callable[[Any], torch.Tensor] | None, settings: dict[str, Any]) -> tuple[LoopTapes, int]:
    """What was recorded, and the memory of the device."""
    texts = dict(settings)
    autocast = texts.pop("autocast", None)
    texts.pop("micro_batches", None)
    make_optimizer = optimizer_of(texts.pop("optimizer", None), model)
    with simulate(name=type(model).__name__, **texts) as run, on_device(model) as trained:
        run.want_tapes()
        device_bytes = int(torch.cuda.get_device_properties(0).total_memory)
        trained.train()
        optimizer = make_optimizer(trained) if make_optimizer is not None else None
        names: dict[str, Any] = {}  # What the loop's variables hold until they are assigned again.

        def evaluate(batches: tuple[Any, ...]) -> None:
            trained.eval()
            with torch.no_grad(), _autocast(autocast):
                for batch in batches:
                    moved = OnDevice(run).copy(batch)
                    output = call(trained, moved)  # noqa: F841 (held until the next one is there, as in a loop)
            trained.train()

        def do(index: int) -> None:
            if passes[index].is_evaluation:
                return evaluate(passes[index].batches)
            names["batch"] = OnDevice(run).copy(passes[index].batches[0])
            with _autocast(autocast):
                output = call(trained, names["batch"])
                names["loss"] = loss(output) if loss is not None else getattr(output, "loss", None)
            if names["loss"] is None:
                names["output"] = output
            _backward(output, names["loss"])
            del output
            if not passes[index].ends_window:
                return
            if optimizer is not None:
                optimizer.step()
            trained.zero_grad(set_to_none=True)

        return_later = record_loop(run, [Pass(one.key, one.ends_window, not one.is_evaluation) for one in passes], do)
        names.clear()
    return return_later(), device_bytes
