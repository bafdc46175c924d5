"""Plans, and the differences between two profiles."""
import json
import shutil
from typing import Any, Protocol

from . import _native


class Handle(Protocol):
    def text(self, width: int | None) -> str: ...

    def json(self) -> str: ...


class Answer:
    """`print(answer)` is the command's table; `data` its JSON."""

    def __init__(self, handle: Handle) -> None:
        self._answer = handle
        self.json: str = handle.json()
        self.data: dict[str, Any] = json.loads(self.json)  # The schemas are in docs/reference/json.md.

    def __str__(self) -> str:
        return self._answer.text(shutil.get_terminal_size().columns)

    def __repr__(self) -> str:
        return str(self)


class CheckpointPlan(Answer):
    """The answer of `symprof plan checkpoint`. It is true if there is a plan for every budget. The setting `checkpoint`
    accepts its JSON as a file."""

    def __init__(self, handle: _native.CheckpointHandle) -> None:
        super().__init__(handle)
        self._handle = handle

    def __bool__(self) -> bool:
        return self._handle.found()

    @property
    def code(self) -> str:
        """A Python file whose apply_plan carries the first budget's plan out; its first lines say how to call it."""
        return self._handle.code()

    def _repr_html_(self) -> str:
        return self._handle.html()


class ThroughputPlan(Answer):
    """The answer of `symprof plan throughput`. It is true where some batch fits into every device."""

    def __init__(self, handle: _native.ThroughputHandle) -> None:
        super().__init__(handle)
        self._handle = handle

    def __bool__(self) -> bool:
        return self._handle.found()


class ParallelPlan(Answer):
    """The answer of `symprof plan parallel`. It is true where a layout fits."""

    def __init__(self, handle: _native.ParallelHandle) -> None:
        super().__init__(handle)
        self._handle = handle

    def __bool__(self) -> bool:
        return self._handle.found()

    @property
    def code(self) -> str:
        """A Python file that applies the plan to a module under torchrun."""
        return self._handle.code()


class Costs(Answer):
    """The answer of `symprof profile A -- B`: rows of two profiles side by side."""

    def __init__(self, handle: _native.CostsHandle) -> None:
        super().__init__(handle)
        self._handle = handle

    def _repr_html_(self) -> str:
        return self._handle.html()
