"""Whether a step fits into devices, and formulas of its costs."""
import json
import shutil
from collections.abc import Sequence
from typing import Any

from . import _native
from ._again import Again


class Fit:
    """The answer of `symprof fit`. It is true where the step fits into every device that was named."""

    def __init__(self, again: Again, devices: Sequence[str], job: Any) -> None:
        self._again, self._devices = again, tuple(devices)
        self._handle: _native.FitHandle = again.fit(self._devices, job)
        self.data: dict[str, Any] = json.loads(self._handle.json())  # Schema symprof.fit/1, docs/reference/json.md.

    def __bool__(self) -> bool:
        return all(device["fits"] for device in self.data["devices"])

    @property
    def margin_bytes(self) -> int:
        """The memory left on the first device beside the reserved bytes; below 0, the missing bytes."""
        margin: int = self.data["margin_bytes"]
        return margin

    @property
    def best_device(self) -> str | None:
        """The cheapest device that finishes the job in time, or the fastest without prices; None if none does."""
        job = self.data["job"]
        return job["best_device"] if job else None

    def largest(self, name: str) -> Any:
        """The largest size of this dimension that fits, by runs at other sizes; None where not even 1 does. With several
        devices, a dictionary by their names."""
        found = self._again.largest(name, self._devices)
        if len(self._devices) <= 1:
            return found[0]
        return {device["device"]["name"]: size for device, size in zip(self.data["devices"], found, strict=True)}

    def __str__(self) -> str:
        return self._handle.text(shutil.get_terminal_size().columns)

    def __repr__(self) -> str:
        return str(self)


class Formulas:
    """The answer of `symprof profile --symbolic`."""

    def __init__(self, handle: _native.FormulaHandle) -> None:
        self._handle = handle
        self.data: dict[str, Any] = json.loads(handle.json())  # Schema symprof.formulas/1, docs/reference/json.md.

    @property
    def totals(self) -> dict[str, Any]:
        totals: dict[str, Any] = self.data["totals"]
        return totals

    def __str__(self) -> str:
        return self._handle.text(shutil.get_terminal_size().columns)

    def __repr__(self) -> str:
        return str(self)
