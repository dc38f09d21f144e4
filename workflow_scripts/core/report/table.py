"""A table of figures: a file of the release for programs, and rows of the report for people."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

Record = Mapping[str, Any]


class Table(NamedTuple):
    """Records of figures, and the columns that programs read of them.

    `columns` names them, with blanks between. The value of a column stands in a record under the
    column's name, or, with `name=path`, at a path (see `value_at`): `n low=sum.low deviation?`.
    """

    columns: str
    records: Iterable[Record]

    def frame(self) -> "pd.DataFrame":
        """Return a row for each record; None is an empty field.

        Values stay as they are: a count with gaps is no column of floating-point numbers.
        """
        import pandas as pd  # half a second, which only who makes the table waits for

        paths = self._paths()
        rows = [[value_at(record, path) for path in paths.values()] for record in self.records]
        return pd.DataFrame(rows, columns=list(paths), dtype=object)

    def where(self, **values: Any) -> "Table":
        """Return the table of the records that have these values."""
        wanted = values.items()
        return Table(self.columns, [record for record in self.records if record.items() >= wanted])

    def groups(self, name: str) -> list[list[Record]]:
        """Return the records by what they have under a name, in the order of their first ones."""
        groups: dict[Any, list[Record]] = {}
        for record in self.records:
            groups.setdefault(record[name], []).append(record)
        return list(groups.values())

    def _paths(self) -> dict[str, str]:
        """Return the path of each column, by the column's name."""
        parts = [column.rpartition("=") for column in self.columns.split()]
        return {name or path.removesuffix("?"): path for name, _, path in parts}


def ends(figures: str, parts: str = "value low high") -> str:
    """Return the columns of figures that have a value and the ends of its interval."""
    return " ".join(
        f"{name}_{part}={name}.{part}" for name in figures.split() for part in parts.split()
    )


def value_at(record: Record, path: str) -> Any:
    """Return what stands at a path of a record: keys with dots between.

    It is None below None, and where a key is missing that may be: one with `?` behind it.

    Raises:
        KeyError: another key is missing.
    """
    value: Any = record
    for key in path.split("."):
        if value is None or (key.endswith("?") and key[:-1] not in value):
            return None
        value = value[int(key) if isinstance(value, list) else key.removesuffix("?")]
    return value
