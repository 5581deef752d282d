"""Tables of other libraries (pandas, polars, Arrow) as rows of documents; none of these libraries is imported.

A table is told by what it can do. Rows are taken out some at a time, and only the columns that are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from doublet.errors import InvalidParameter, nearest
from doublet.sources.records import Fields

AT_ONCE = 1_000  #: rows taken out of a table at a time
ROW = "@row"  #: column of ids that a table without one gets: its index (pandas), or the number of the row


def is_table(given: object) -> bool:
    """A data frame of pandas or polars, a table or a batch of Arrow."""
    return _kind(given) != ""


def is_column(given: object) -> bool:
    """A series of pandas or polars, an array of Arrow or numpy: texts without ids."""
    named = hasattr(given, "to_list") or hasattr(given, "to_pylist") or hasattr(given, "tolist")
    return named and not is_table(given) and hasattr(given, "dtype" if hasattr(given, "dtype") else "type")


def _kind(given: Any) -> str:
    if isinstance(given, str | bytes | Mapping | Sequence):
        return ""
    if hasattr(given, "iloc") and hasattr(given, "columns"):
        return "pandas"
    if hasattr(given, "collect_schema") and hasattr(given, "slice"):
        return "polars"
    if hasattr(given, "schema") and hasattr(given, "slice") and hasattr(given, "num_rows"):
        return "arrow"
    return ""


class Table:
    """The rows of a table as mappings. Can be walked again."""

    def __init__(self, table: Any, fields: Fields, *, id_given: bool) -> None:
        """Raises `InvalidParameter` for a column that is not there, with the nearest one."""
        self._kind = _kind(table)
        if self._kind == "polars" and hasattr(table, "collect"):  # one that was not computed yet
            table = table.collect()
        self._table = table
        names = [str(name) for name in (table.schema.names if self._kind == "arrow" else table.columns)]
        self.own_ids = not id_given and fields.id not in names
        wanted = {"text_field": fields.text} | ({} if self.own_ids else {"id_field": fields.id})
        for option, column in wanted.items():
            if column not in names and column.partition(".")[0] not in names:
                raise InvalidParameter(
                    "table_without_column",
                    name=option,
                    column=column,
                    nearest=nearest(column, names),
                    known=names,
                )
        asked = (fields.id, fields.text, fields.time, fields.source, fields.title, fields.address)
        self._columns = [
            name for name in names if any(f in (name,) or f.startswith(f"{name}.") for f in asked if f)
        ]

    def __len__(self) -> int:
        return int(self._table.num_rows if self._kind == "arrow" else len(self._table))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self), AT_ONCE):
            columns = self._part(start)
            for row in zip(*columns.values(), strict=True):
                yield dict(zip(columns, row, strict=True))

    def _part(self, start: int) -> dict[str, list[Any]]:
        if self._kind == "pandas":
            part = self._table.iloc[start : start + AT_ONCE]
            out = {name: part[name].tolist() for name in self._columns}
            ids = part.index.tolist()
        else:
            part = self._table.slice(start, AT_ONCE)
            read = "to_pylist" if self._kind == "arrow" else "to_list"
            column = part.column if self._kind == "arrow" else part.get_column
            out = {name: getattr(column(name), read)() for name in self._columns}
            ids = list(range(start, min(start + AT_ONCE, len(self))))
        return {ROW: ids, **out} if self.own_ids else out


def column_rows(column: Any) -> list[tuple[Any, Any]]:
    """The texts of a column with their ids: the index (pandas), or their numbers."""
    read = getattr(column, "to_pylist", None) or getattr(column, "tolist", None) or column.to_list
    texts = read()
    index: Any = getattr(column, "index", None)
    ids = index.tolist() if hasattr(index, "tolist") else range(len(texts))
    return list(zip(ids, texts, strict=True))
