"""Memory snapshots of PyTorch: what a run held, and two runs side by side."""
import os
import pathlib
import shutil
from typing import Any, overload

from . import _native
from ._plans import Answer

Path = str | os.PathLike[str]


class Memory(Answer):
    """The answer of `symprof memory`."""

    def __init__(self, handle: _native.MemoryHandle) -> None:
        self._handle = handle
        super().__init__(_LineTables(handle))

    @property
    def peak_allocated_bytes(self) -> int:
        return int(self.data["peaks"]["allocated"]["bytes"])

    @property
    def peak_reserved_bytes(self) -> int:
        return int(self.data["peaks"]["reserved"]["bytes"])

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Who held the allocated peak, by line of the program; the largest first."""
        return list(self.data["lines_at_peak"])

    @property
    def modules(self) -> list[dict[str, Any]]:
        """The same by module."""
        return list(self.data["modules_at_peak"])

    @property
    def leaks(self) -> list[dict[str, Any]]:
        """Lines whose blocks of several steps nobody gave back."""
        return list(self.data["leaks"])

    def table(self, by: str = "line", *, top: int = 20) -> str:
        """The command's table, by "line" or "module"."""
        return self._handle.text(shutil.get_terminal_size().columns, by, top)

    def html(self, path: Path, by: str = "line") -> None:
        """Writes a page: memory over events, by owner."""
        pathlib.Path(path).write_text(self._handle.html(by), encoding="utf-8")

    def _repr_html_(self) -> str:
        return self._handle.html("line")


class MemoryComparison(Answer):
    """The answer of `symprof memory BEFORE -- AFTER`."""

    def __init__(self, handle: _native.MemoryComparisonHandle) -> None:
        self._handle = handle
        super().__init__(_LineTables(handle))

    @property
    def growth(self) -> float:
        """By how much the allocated peak grew: 0.02 for 2 %, below 0 if it shrank."""
        return self._handle.growth()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Lines of the program at both allocated peaks; the largest change first."""
        return list(self.data["lines"])

    @property
    def modules(self) -> list[dict[str, Any]]:
        """The same by module."""
        return list(self.data["modules"])

    def table(self, by: str = "line", *, top: int = 20) -> str:
        """The command's table, by "line" or "module"."""
        return self._handle.text(shutil.get_terminal_size().columns, by, top)


class MeasuredMemory(Answer):
    """A measured memory history beside a profile's prediction: `Profile.measured_memory`."""

    def __init__(self, handle: _native.MeasuredMemoryHandle) -> None:
        self._handle = handle
        super().__init__(_TopTables(handle))

    @property
    def equal_share(self) -> float:
        """The share of requests that both histories make, with one size and in one order."""
        return float(self.data["equal_share"])

    @property
    def verdict(self) -> str:
        return str(self.data["verdict"])

    def table(self, *, top: int = 10, width: int | None = None) -> str:
        """The table that `symprof profile --measured-memory` prints."""
        return self._handle.text(width, top)


class _TopTables:
    def __init__(self, handle: _native.MeasuredMemoryHandle) -> None:
        self._handle = handle

    def text(self, width: int | None) -> str:
        return self._handle.text(width, 10)

    def json(self) -> str:
        return self._handle.json()


class _LineTables:
    """What `Answer` prints of a snapshot: the table by line."""

    def __init__(self, handle: _native.MemoryHandle | _native.MemoryComparisonHandle) -> None:
        self._handle = handle

    def text(self, width: int | None) -> str:
        return self._handle.text(width, "line", 20)

    def json(self) -> str:
        return self._handle.json()


@overload
def memory(path: Path, *, device: int | None = None) -> Memory: ...


@overload
def memory(path: Path, after: Path, *, device: int | None = None) -> MemoryComparison: ...


def memory(path: Path, after: Path | None = None, *, device: int | None = None) -> Memory | MemoryComparison:
    """Reads a file of `torch.cuda.memory._dump_snapshot`: who held the peak, what leaks, fragmentation. With a second file,
    the changes from the first to it. `device` is the number of the GPU; without it, the one with the most events."""
    if after is None:
        return Memory(_native.memory_of(os.fspath(path), device))
    return MemoryComparison(_native.compared_memory(os.fspath(path), os.fspath(after), device))
