"""A run that parses: its trees, and what is measured on them."""

import json
import math

import pytest

from tests.e2e import micro
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow, TreesRow

pytestmark = pytest.mark.e2e


@pytest.mark.rest
def test_trees_are_made_kept_and_measured(whole, copy_of):
    pipeline = copy_of(whole)
    rows = list(read_rows(pipeline.unit("syntax.bt2017") / "0000.parquet", TreesRow))
    selected = list(read_rows(pipeline.unit("select.bt2017") / "0000.parquet", ParaphrasesRow))
    assert [row["id"] for row in rows] == [row["id"] for row in selected]
    for row, given in zip(rows, selected, strict=True):
        assert len(row["paraphrases"]) == len(given["paraphrases"])
    manifest = pipeline.manifest("syntax.bt2017")
    assert manifest["rows_in"] == manifest["rows_out"] == len(rows)

    measures = pipeline.unit("evaluate.bt2017") / "measures.json"
    syntax = json.loads(measures.read_text(encoding="utf-8"))["groups"]["all"]["syntax"]
    assert syntax["references"] + syntax["without_trees"] == sum(row["parsed"] for row in rows)
    path = pipeline.unit("evaluate.bt2017") / "statistics.json"
    statistics = json.loads(path.read_text(encoding="utf-8"))
    assert statistics["sides"].pop("candidates")["parse_entropy"] is None  # they are not parsed
    for side, found in statistics["sides"].items():
        trees = found["parse_entropy"]["trees"]
        assert 0 < trees <= found["sentences"], side
        assert 0 <= found["parse_entropy"]["entropy"] <= math.log(trees)
    report = (pipeline.unit("release") / "report.html").read_text(encoding="utf-8")
    assert "Tree edit distance" in report
    assert " trees</span>" in report

    # Other levels: the trees stay as they are.
    deeper = micro.merged(whole.config, {"evaluate": {"syntax": {"levels": 4}}})
    planned = pipeline.with_config(deeper).planned()
    assert "syntax_shard" not in planned
    assert planned["evaluate_measures"] == len(micro.PAPERS)


def test_a_missing_parser_stops_the_run_before_it_starts(tmp_path, copy_of, whole):
    changes = {"evaluate": {"syntax": {"folder": str(tmp_path / "none")}}}
    pipeline = copy_of(whole).with_config(micro.merged(whole.config, changes))
    output = pipeline.fail("--dry-run")
    assert "evaluate.syntax.folder" in output
    assert "stanza.download('en'" in output
