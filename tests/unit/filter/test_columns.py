import re
from pathlib import Path

import pyarrow as pa
import pytest

from tests.tables import pair, paraphrase, selected
from tests.unit.filter.conftest import arguments, write_table
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows, schema_of
from workflow_scripts.core.files.rows import PAIR_COLUMNS, PairColumnsRow, ParaphrasesRow
from workflow_scripts.stages.filter import columns
from workflow_scripts.stages.filter.columns import main

ROOT = Path(__file__).resolve().parents[3]


def reference(number, text, paraphrases):
    found = [
        paraphrase(rank, each, 0.5 * rank, None if rank == 2 else 0.25)
        for rank, each in enumerate(paraphrases, 1)
    ]
    return selected(pair(f"c:{number}", "z", text), found)


ROWS = [
    reference(1, "The old dog sleeps.", ["An old dog is asleep.", "The dog sleeps."]),
    reference(2, "Nothing was found for this.", []),
    reference(3, "He came.", ["He came.", "He has come!", "There he is."]),
]


@pytest.fixture
def shard(tmp_path):
    return write_table(tmp_path / "0000.parquet", ParaphrasesRow, ROWS)


def run(shard, output, config=None):
    main(arguments(config or {}, paraphrases=shard, output=output))
    return list(read_rows(output, PairColumnsRow))


def test_one_row_for_each_pair_in_order(shard, tmp_path):
    rows = run(shard, tmp_path / "out" / "0000.parquet")
    assert [(row["id"], row["rank"]) for row in rows] == [
        *(("c:1", 1), ("c:1", 2)),
        *(("c:3", 1), ("c:3", 2), ("c:3", 3)),
    ]
    assert rows[0] | {} == {
        "id": "c:1",
        "reference": "The old dog sleeps.",
        "paraphrase": "An old dog is asleep.",
        "rank": 1,
        "reference_words": 4,
        "paraphrase_words": 5,
        "translation_cost": 0.5,
        "backward_nll": 0.25,
        "sum": 0.75,
        "overlap_1": 0.5,
        "overlap_2": pytest.approx(1 / 3),
        "overlap_3": 0.0,
        "intersection_over_union": pytest.approx(2 / 7),
        "intersection_over_union_bags": pytest.approx(2 / 7),
        "bleu_nakov": pytest.approx(100 * (3 / 6 * 2 / 5 * 1 / 4 * 1 / 3) ** 0.25),
        "sacrebleu_exp": pytest.approx(100 * (3 / 6 * 1 / 5 / 8 / 12) ** 0.25),
        "sacrebleu_floor": pytest.approx(100 * (3 / 6 * 1 / 5 * 0.1 / 4 * 0.1 / 3) ** 0.25),
        "sacrebleu_add_k": pytest.approx(100 * (3 / 6 * 2 / 6 * 1 / 5 * 1 / 4) ** 0.25),
        "sacrebleu_none": 0.0,
    }
    assert rows[1]["backward_nll"] is None
    assert rows[1]["sum"] is None
    assert rows[2]["sacrebleu_none"] == pytest.approx(100)
    record = read_record(tmp_path / "out" / "0000.parquet")
    assert (record["rows_in"], record["rows_out"]) == (5, 5)


def test_punctuation_counts_as_tokens_if_it_is_said(shard, tmp_path):
    first = run(shard, tmp_path / "out.parquet", {"punctuation": "tokens"})[0]
    assert (first["reference_words"], first["paraphrase_words"]) == (5, 6)
    # Shared: old, dog and the stop.
    assert first["overlap_1"] == pytest.approx(3 / 5)
    assert first["intersection_over_union"] == pytest.approx(3 / 8)


def test_the_size_of_batches_makes_no_difference(shard, tmp_path, monkeypatch, capsys):
    whole = run(shard, tmp_path / "whole.parquet")
    monkeypatch.setattr(columns, "BATCH", 2)
    assert run(shard, tmp_path / "parts.parquet") == whole
    assert capsys.readouterr().err.count("columns: 5 rows done") == 2
    assert (tmp_path / "parts.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_shard_without_pairs(tmp_path):
    shard = write_table(tmp_path / "0000.parquet", ParaphrasesRow, ROWS[1:2])
    assert run(shard, tmp_path / "out.parquet") == []


def test_the_schema_has_the_columns_that_a_configuration_can_name():
    assert schema_of(PairColumnsRow).names == ["id", "reference", "paraphrase", *PAIR_COLUMNS]


def test_every_column_that_is_computed_is_written():
    """What the schema lacks would be left out without a word."""
    texts = pa.array(["A dog."])
    computed = columns.Counter().columns(texts, texts)
    assert set(computed) <= set(PAIR_COLUMNS)


def test_the_docs_describe_every_column():
    text = (ROOT / "docs" / "filter.md").read_text(encoding="utf-8")
    table = text.partition("\n| column | value of a pair |")[2].partition("\n\n")[0]
    names = [name for row in re.findall(r"(?m)^\| (`.*?) \|", table) for name in row.split(", ")]
    assert names == [f"`{column}`" for column in PAIR_COLUMNS]
