from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints, is_typeddict

import pyarrow as pa
import pytest

from workflow_scripts.core.files.parquet import SCHEMAS
from workflow_scripts.core.files.rows import ROWS, PairRow


def arrow_fields(row):
    """Return the Arrow type of each key of a typed dict; any integer is int, any float is float."""
    return {key: arrow_type(hint) for key, hint in get_type_hints(row).items()}


def arrow_type(hint):
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    if is_typeddict(hint):
        return arrow_fields(hint)
    if get_origin(hint) is list:
        return [arrow_type(*get_args(hint))]
    return hint


def plain_type(kind):
    """Return an Arrow type in the same terms."""
    if pa.types.is_struct(kind):
        return {field.name: plain_type(field.type) for field in kind}
    if pa.types.is_list(kind):
        return [plain_type(kind.value_type)]
    tests = {
        str: pa.types.is_string,
        bool: pa.types.is_boolean,
        int: pa.types.is_integer,
        float: pa.types.is_floating,
    }
    (found,) = (each for each, test in tests.items() if test(kind))
    return found


def test_every_schema_has_a_row():
    assert list(ROWS) == list(SCHEMAS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_row_has_the_keys_and_types_of_its_schema(name):
    expected = {field.name: plain_type(field.type) for field in SCHEMAS[name]}
    assert arrow_fields(ROWS[name]) == expected


def test_another_type_or_a_nested_key_is_a_difference():
    class Other(PairRow):
        count: int | None

    class Nested(PairRow):
        rows: list[Other]

    assert arrow_fields(Other) == dict.fromkeys(("id", "source", "reference", "corpus"), str) | {
        "count": int
    }
    assert arrow_fields(Nested)["rows"] == [arrow_fields(Other)]
