"""Rows of a profile: dictionaries to read, and Arrow to compute with."""
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class Rows(Sequence[Mapping[str, Any]]):
    """A sequence of dictionaries. polars.DataFrame(rows) and others read it as an Arrow stream; `arrow()` is a
    pyarrow.Table, and its to_pandas() a DataFrame. Needs pyarrow: pip install symprof[arrow].

    >>> Rows([{"op": "mm", "flops": 8}])[0]["flops"]
    8
    """

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        return Rows(self._rows[place]) if isinstance(place, slice) else self._rows[place]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {', '.join(self.columns)}>"

    @property
    def columns(self) -> list[str]:
        """Of any row, in the order in which they come."""
        return list(dict.fromkeys(name for row in self._rows for name in row))

    def arrow(self) -> Any:
        """A pyarrow.Table; missing values of a row are null."""
        import pyarrow

        return pyarrow.table({name: [row.get(name) for row in self._rows] for name in self.columns})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.arrow().__arrow_c_stream__(requested_schema)
