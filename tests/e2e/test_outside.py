"""A pair corpus from outside stands beside the system in all tables of embeddings."""

import csv
import json

import pyarrow.parquet as pq
import pytest

from workflow_scripts.core.files.manifest import verify

pytestmark = pytest.mark.e2e

SETS = {"half-bt2017", "short-given"}


def table(whole, name):
    path = whole.unit("release") / "tables" / f"{name}.tsv"
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def test_its_bad_line_is_counted_and_its_pairs_are_trained_on(whole):
    assert whole.manifest("filter.given")["rejected"] == {"columns": 1}
    chosen = whole.manifest("filter.short-given")
    assert chosen["rows_in"] == whole.manifest("filter.given")["rows_out"] == 19
    trained = whole.manifest("embed.tiny-short-given-seed1")
    assert trained["rows_in"] == chosen["rows_out"] > 0


def test_all_tables_of_embeddings_have_it(whole):
    rows = {row["training_set"]: row for row in table(whole, "sts")}
    assert rows.keys() == SETS
    assert (rows["short-given"]["system"], rows["half-bt2017"]["system"]) == ("given", "bt2017")
    assert rows["short-given"]["chosen_by"] == "paraphrase_words 1 to 30"
    by_data = {row["training_set"] for row in table(whole, "sts_data_sets")}
    assert by_data - {""} == SETS
    assert {row["training_set"] for row in table(whole, "sts_gains")} == SETS
    (difference,) = table(whole, "sts_differences")
    assert {difference["first"], difference["second"]} == SETS
    sts = json.loads((whole.unit("embed.sts") / "sts.json").read_text(encoding="utf-8"))
    assert sts["embeddings"].keys() == {f"tiny-{name}" for name in SETS}
    for name, row in rows.items():
        assert int(row["pairs"]) == whole.manifest(f"filter.{name}")["rows_out"]
        found = sts["embeddings"][f"tiny-{name}"]["over_seeds"]["trained"]["pearson"]
        assert float(row["trained_pearson"]) == pytest.approx(100 * found["mean"], abs=1e-3)
    record = verify(whole.unit("release") / "tables" / "tables")
    assert whole.manifest("release")["parts"]["tables/tables"] == record


def test_the_report_has_it_and_the_release_has_none_of_its_pairs(whole):
    report = (whole.unit("release") / "report.html").read_text(encoding="utf-8")
    assert '<th scope="row">short-given</th><td>given</td>' in report
    corpora = whole.unit("release").glob("*/*.parquet")
    ids = {row["id"] for path in corpora for row in pq.read_table(path).to_pylist()}
    assert ids
    assert not [each for each in ids if each.startswith("given:")]
