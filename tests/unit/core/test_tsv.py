"""Tables of a user: what is read, and which line is told of."""

import csv

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.tsv import fields, read_rows, table_text


def test_rows_have_their_lines_and_columns_in_any_order(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text('b\tother\ta\n1\tx\t"2\n\n3\t\t4\n', "utf-8")
    assert list(read_rows(path, ["a", "b"], ["c"])) == [
        (2, {"b": "1", "other": "x", "a": '"2'}),
        (4, {"b": "3", "other": "", "a": "4"}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"line 1: no column a, b; the header names the columns a, b, separated by tabs"),
        ("a\tc\n1\t2\n", r"line 1: no column b"),
        ("a\tb\ta\n1\t2\t3\n", r"line 1: column a is there twice"),
        ("a\tb\tc\tc\n1\t2\t3\t4\n", r"line 1: column c is there twice"),
        ("a\tb\n1\t2\n1\n", r"line 3 has 1 fields, the header 2; fields are separated by tabs"),
        ("a\tb\n1\t2\t3\n", r"line 2 has 3 fields, the header 2"),
    ],
)
def test_what_is_no_such_table_is_told(tmp_path, text, message):
    path = tmp_path / "a.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        list(read_rows(path, ["a", "b"], ["c"]))


def test_a_line_of_many_tabs_makes_no_other_line_wider(tmp_path):
    """A table of 10 ** 11 cells would hold no memory."""
    lines = [*["a\tb"] * 100_000, "\t" * 1_000_000]
    widths = [len(row) for _, row in fields(tmp_path / "a.tsv", lines)]
    assert widths == [2] * 100_000 + [1_000_001]


def test_a_written_table_has_texts_as_they_are():
    rows = [['"', None], ["NA", 0.5], ("", 'a "b"')]
    assert table_text(["a", "b c"], rows) == 'a\tb c\n"\t\nNA\t0.5\n\ta "b"\n'
    assert table_text(["a", "b"], []) == "a\tb\n"
    with pytest.raises(csv.Error):
        table_text(["a", "b"], [["one\ttwo", "c"]])
