from pathlib import Path
from typing import TypedDict

import pyarrow as pa

from workflow_scripts.core.files.parquet import schema_of
from workflow_scripts.core.files.rows import ROWS, SCHEMA_NAMES, Float32, Int8, Int32, PairRow

# What files of finished runs have: another schema makes them unreadable.
GOLDEN = Path(__file__).resolve().parents[2] / "data" / "schemas.txt"


def as_text(name, schema):
    return f"{name}: {', '.join(f'{field.name} {field.type}' for field in schema)}\n"


def test_schemas_are_those_of_finished_runs():
    found = "".join(as_text(name, schema_of(row)) for name, row in ROWS.items())
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_each_schema_has_one_row_and_each_row_one_name():
    assert len(SCHEMA_NAMES) == len(ROWS)


def test_types_follow_from_the_row():
    class Inner(TypedDict):
        small: Int8
        texts: list[str | None]

    class Outer(PairRow):
        whole: int
        count: Int32 | None
        value: float
        short: list[Float32]
        told: bool
        inner: list[Inner]

    assert schema_of(Outer) == pa.schema(
        [
            *((name, pa.string()) for name in ("id", "source", "reference", "corpus")),
            ("whole", pa.int64()),
            ("count", pa.int32()),
            ("value", pa.float64()),
            ("short", pa.list_(pa.float32())),
            ("told", pa.bool_()),
            (
                "inner",
                pa.list_(pa.struct([("small", pa.int8()), ("texts", pa.list_(pa.string()))])),
            ),
        ]
    )
