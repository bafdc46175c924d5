"""A profile as a Python object."""
import json as json_module
import shutil
from collections.abc import Sequence
from typing import Any

from . import _native


class Profile:
    """What a step costs. `print(profile)` is the command's table; in a notebook it is the HTML page."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._data: dict[str, Any] | None = None

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

    @property
    def data(self) -> dict[str, Any]:
        """The command's JSON (schema symprof.profile/1, docs/json.md)."""
        if self._data is None:
            self._data = json_module.loads(self.json)
        return self._data

    @property
    def totals(self) -> dict[str, Any]:
        return self.data["totals"]

    @property
    def nodes(self) -> list[dict[str, Any]]:
        return self.data["nodes"]

    @property
    def warnings(self) -> list[str]:
        return self.data["warnings"]

    def __str__(self) -> str:
        return self.table(width=shutil.get_terminal_size().columns)

    def _repr_html_(self) -> str:
        return self.html()


def _request(by: str, depth: int | None, sort: str, top: int | None, columns: Sequence[str], width: int | None) -> Any:
    request = _native.TableRequest()
    request.by, request.depth, request.sort, request.top = by, depth, sort, top
    request.columns, request.width = list(columns), width
    return request
