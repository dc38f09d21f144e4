"""Odd texts in people's tables and in ours are read and written as they are."""

import pyarrow as pa
import pytest

from tests.odd_lines import ESCAPED, FIELDS
from workflow_scripts.core.files.tsv import read_rows
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.embed.sts_readers import read_data_sets
from workflow_scripts.stages.judge.rated_pairs import LABEL_COLUMNS, read_labels
from workflow_scripts.stages.judge.rating_file import COLUMNS, read_ratings
from workflow_scripts.stages.release import export, tables


def write(path, rows):
    """Write a table as a user's program does, without any escaping."""
    path.write_bytes("".join("\t".join(row) + "\n" for row in rows).encode())
    return path


def unescaped(text):
    """Return what `export.escape` made a text of."""
    signs = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}
    pieces = iter(text)
    return "".join(signs[next(pieces)] if sign == "\\" else sign for sign in pieces)


def lines_of(text):
    return [line.split("\t") for line in text.removesuffix("\n").split("\n")]


def test_a_table_with_a_header_holds_texts(tmp_path):
    rows = [(text, str(number), text) for number, text in enumerate(FIELDS)]
    path = write(tmp_path / "a.tsv", [("a", "number", "b"), *rows])
    assert [
        (number, row["a"], row["number"], row["b"]) for number, row in read_rows(path, ["a", "b"])
    ] == [(number, *row) for number, row in enumerate(rows, 2)]


@pytest.mark.parametrize("name", ["NA", "1e5", '"', "#", " a "])
def test_the_name_of_a_column_is_a_text(tmp_path, name):
    path = write(tmp_path / "a.tsv", [(name, "b"), ("1", "2")])
    assert list(read_rows(path, [name])) == [(2, {name: "1", "b": "2"})]


def test_lines_of_blanks_are_rows(tmp_path):
    path = write(tmp_path / "a.tsv", [("a",), (" ",), ("\u00a0",), ("",), ("NA",)])
    found = [(number, row["a"]) for number, row in read_rows(path, ["a"])]
    assert found == [(2, " "), (3, "\u00a0"), (5, "NA")]


def test_ratings_hold_texts(tmp_path):
    texts = [text for text in FIELDS if text.strip()]
    rows = [
        (text, str(number), "5", "1", text, "0.5", "90", "2") for number, text in enumerate(texts)
    ]
    found = read_ratings(write(tmp_path / "ratings.tsv", [COLUMNS, *rows]))
    assert [each.paraphrase for each in found] == texts
    assert [each.annotator for each in found] == texts


def test_labels_hold_texts(tmp_path):
    texts = [text for text in FIELDS if text.strip()]
    rows = [(text, text, text, "0.5", "", "good") for text in texts]
    pairs = read_labels(write(tmp_path / "labels.tsv", [LABEL_COLUMNS, *rows])).pairs
    assert pairs.references == pairs.paraphrases == pairs.sources == texts


def test_sts_data_hold_texts(tmp_path):
    texts = [text for text in FIELDS if text.strip()]
    write(tmp_path / "sts-dev.csv", [("g", "f", "y", "1", "2.5", text, text) for text in texts])
    (found,) = read_data_sets([tmp_path])
    assert len(found.pairs) == len(texts)
    assert [pair[0] for pair in found.pairs] == [text.strip() for text in texts]


def test_released_tables_hold_texts():
    texts = [*FIELDS, *ESCAPED]
    rows = [(text, number, None, 0.1 + number) for number, text in enumerate(texts)]
    columns = ["text", "count", "none", "figure"]
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    header, *found = lines_of(tables.tsv(Table(" ".join(columns), records)))
    assert header == columns
    assert [(unescaped(text), *rest) for text, *rest in found] == [
        (text, str(count), "", repr(figure)) for text, count, _, figure in rows
    ]


def test_released_paraphrases_hold_texts():
    nlls = {"forward_nll": 0.5, "backward_nll": 0.75, "sum": 1.25, "probability": None}
    rows = [
        {"id": text, "reference": text, "paraphrases": [{"text": text, **nlls}]}
        for text in (*FIELDS, *ESCAPED)
    ]
    for row in rows:
        line = export.tsv_line(row, 1, "en")
        ((identity, reference, paraphrase, score, *figures),) = lines_of(line)
        assert {unescaped(each) for each in (identity, reference, paraphrase)} == {row["id"]}
        assert (score, figures[0]) == ("1.2500", "")
    released = [export.parquet_row(row, 1, "en") for row in rows]
    table = pa.Table.from_pylist(released, schema=export.SCHEMA).to_pylist()
    assert [(row["id"], row["reference"]) for row in table] == [
        (row["id"], row["reference"]) for row in rows
    ]
