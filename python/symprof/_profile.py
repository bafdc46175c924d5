"""A profile as a Python object."""
import functools
import json as json_module
import os
import shutil
from collections.abc import Sequence
from typing import Any

from . import _native
from ._again import Again, Program
from ._fit import Fit, Formulas
from ._memory import MeasuredMemory
from ._plans import CheckpointPlan, Costs, ParallelPlan, ThroughputPlan
from ._rows import Rows


class Profile:
    """The costs of a step. `print(profile)` is the command's table; in a notebook it is the HTML page."""

    def __init__(self, handle: _native.ProfileHandle, again: Again | None = None) -> None:
        self._handle = handle
        self._again = again or Program(handle)

    def at(self, **changes: Any) -> "Profile":
        """Re-profiles with other sizes or settings: `profile.at(batch=64, optimizer="adamw")`.

        Sizes of a file are named as in the command's --set. For a module, `batch` is the first dimension of its inputs, and
        `seq` the second of its integer inputs."""
        return Profile(*self._again.profile(changes))

    def fit(
        self, *devices: str, price: str | os.PathLike[str] = "", samples: int | None = None, deadline: str = ""
    ) -> Fit:
        """Whether the step fits into the devices, by name ("a100-80g", or "all"); into its own device by default. With a
        file of prices, a number of samples or a deadline ("3d"), also the time and the price of the job there
        (docs/guide/fit.md)."""
        job = _native.job_of(os.fspath(price), "" if samples is None else str(samples), deadline)
        return Fit(self._again, devices, job)

    def formulas(self, *names: str, by: str = "module", depth: int | None = 1, columns: Sequence[str] = ()) -> Formulas:
        """Figures as formulas of these dimensions (docs/guide/formulas.md)."""
        return Formulas(self._again.formulas(names, _request(by, depth, "", None, columns, None)))

    def compare(self, other: "Profile", by: str = "node", *, depth: int | None = None, sort: str = "", top: int | None = None,
                columns: Sequence[str] = ()) -> Costs:
        """The changes from this profile to the other: rows side by side, and totals (docs/guide/costs.md)."""
        return Costs(_native.costs_of(self._handle, other._handle, _request(by, depth, sort, top, columns, None)))

    def plan_checkpoint(self, *budgets: str, regions: Sequence[str] = ()) -> CheckpointPlan:
        """Which activations to recompute, so that the step fits into each of the budgets ("3GiB"); without one, a curve
        (docs/guide/plan_checkpoint.md). For a model file or an ExportedProgram, as the other plans. Each module is a
        checkpointed segment of its own, as `code` applies it; `symprof plan checkpoint` also finds plans that recompute
        several modules as one."""
        return CheckpointPlan(self._again.plan("checkpoint", list(budgets), list(regions)))

    def plan_throughput(self, *devices: str, budget: str = "", regions: Sequence[str] = ()) -> ThroughputPlan:
        """Which batch does the most samples a second on each device, with which checkpoint plan (docs/guide/plan_checkpoint.md)."""
        return ThroughputPlan(self._again.plan("throughput", list(devices), budget, list(regions)))

    def plan_parallel(self, mesh: int | str, *, global_batch: int | None = None, layout: str = "",
                      blocks: Sequence[str] = ()) -> ParallelPlan:
        """How to spread the step over a mesh of its device, "2x8" or 8 (docs/guide/plan_parallel.md)."""
        return ParallelPlan(self._again.plan("parallel", str(mesh), layout, global_batch, list(blocks)))

    def memory_snapshot(self) -> bytes:
        """A snapshot for pytorch.org/memory_viz: the allocator's history, each block with the call that allocated it."""
        return self._handle.memory_snapshot()

    def measured_memory(self, path: str | os.PathLike[str]) -> MeasuredMemory:
        """A memory snapshot of the same step on a GPU beside the prediction: the requests that differ, and why the peaks do
        (docs/guide/memory.md)."""
        return MeasuredMemory(self._handle.measured_memory(os.fspath(path)))

    def table(
        self,
        by: str = "node",
        *,
        depth: int | None = None,
        sort: str = "",
        top: int | None = None,
        columns: Sequence[str] = (),
        width: int | None = None,
    ) -> str:
        """The table that `symprof profile` prints, with the same options."""
        return self._handle.table(_request(by, depth, sort, top, columns, width))

    def markdown(self, by: str = "node", *, depth: int | None = None, sort: str = "", top: int | None = None,
                 columns: Sequence[str] = ()) -> str:
        """The table for an issue or a README."""
        return self._handle.markdown(_request(by, depth, sort, top, columns, None))

    def html(self, by: str = "node", *, depth: int | None = None, sort: str = "", top: int | None = None,
             columns: Sequence[str] = ()) -> str:
        """One page that needs no other file."""
        return self._handle.html(_request(by, depth, sort, top, columns, None))

    def csv(self, by: str = "node", *, depth: int | None = None, sort: str = "", top: int | None = None,
            columns: Sequence[str] = ()) -> str:
        """The rows as CSV: integers in bytes, FLOPs or calls."""
        return self._handle.csv(_request(by, depth, sort, top, columns, None))

    @property
    def json(self) -> str:
        """The command's JSON as text."""
        return self._handle.json()

    def json_beside(self, measured: MeasuredMemory | None) -> str:
        """The JSON with the member "measured_memory"."""
        return self._handle.json(None if measured is None else measured._handle)

    @functools.cached_property
    def data(self) -> dict[str, Any]:
        """The command's JSON (schema symprof.profile/1, docs/reference/json.md)."""
        data: dict[str, Any] = json_module.loads(self.json)
        return data

    @property
    def totals(self) -> dict[str, Any]:
        totals: dict[str, Any] = self.data["totals"]
        return totals

    @functools.cached_property
    def nodes(self) -> Rows:
        """A row for each node, as in the JSON's `nodes` without their calls."""
        return Rows([{key: value for key, value in node.items() if key != "calls"} for node in self.data["nodes"]])

    @functools.cached_property
    def calls(self) -> Rows:
        """A row for each ATen call, in execution order: its node's index, and its members in JSON."""
        calls = [{"node": i, **call} for i, node in enumerate(self.data["nodes"]) for call in node["calls"]]
        return Rows(sorted(calls, key=lambda call: call["call"]))

    @functools.cached_property
    def timeline(self) -> Rows:
        """A row for each call that changed the allocated bytes: bytes after it, the peak while it ran, and by category."""
        return Rows([{**{key: value for key, value in point.items() if key != "held"}, **point["held"]}
                     for point in self.data["timeline"]])

    @property
    def time(self) -> dict[str, Any] | None:
        """Time of the step, in microseconds, with its interval (docs/reference/json.md); None without `time=True`."""
        return self.data.get("time")

    @property
    def warnings(self) -> list[str]:
        warnings: list[str] = self.data["warnings"]
        return warnings

    def __str__(self) -> str:
        return self.table(width=shutil.get_terminal_size().columns)

    def _repr_html_(self) -> str:
        return self.html()


def _request(by: str, depth: int | None, sort: str, top: int | None, columns: Sequence[str], width: int | None) -> _native.TableRequest:
    request = _native.TableRequest()
    request.by, request.depth, request.sort, request.top = by, depth, sort, top
    request.columns, request.width = list(columns), width
    return request
