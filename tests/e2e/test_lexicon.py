"""A lexicon of pairs from outside, made by its rules alone, and remade after a loss."""

import pyarrow.parquet as pq
import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline, stages_of
from tests.unit.lexicon.conftest import PAIRS
from workflow_scripts.stages.lexicon.results import read_measures

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

CHANGES = {
    "run": {"training_sets": ["short"], "embeddings": [], "rewriters": [], "lexicons": ["phrases"]},
    "outside": {"given": {"tsv": "known.tsv"}},
    "lexicons": {"phrases": {"training_sets": ["short"], "attested": False}},
    "evaluate": {"columns": [], "lexicons": {"word_similarity": ["similar.txt"], "encoder": False}},
}
FILES = ("lexicon.parquet", "lexicon.tsv.zst", "ppdb.gz")


def contents(pipeline):
    return {name: (pipeline.unit("lexicon.phrases") / name).read_bytes() for name in FILES}


def test_its_rules_make_a_lexicon_and_make_again_what_is_lost(tmp_path):
    data = tmp_path / "data"
    micro.write_bitext(data)
    lines = "".join(f"{one}\t{other}\n" for one, other in PAIRS)
    (data / "known.tsv").write_text(lines, encoding="utf-8")
    (data / "similar.txt").write_text("big\tlarge\t9\nbig\tzebra\t1\nquit\tbig\t2\n")
    pipeline = Pipeline(tmp_path / "work", micro.merged(micro.config(data), CHANGES))
    planned = pipeline.planned("release")
    assert planned["lexicon_words"] == planned["lexicon_entries"] == 1
    assert planned["lexicon_measure"] == 1
    assert planned["lexicon_count"] == 2

    assert stages_of(pipeline.planned("lexicon")) == {"filter", "lexicon"}
    pipeline.run("lexicon")
    rows = pq.read_table(pipeline.unit("lexicon.phrases") / "lexicon.parquet").to_pylist()
    found = {(row["phrase"], row["paraphrase"]): row["count"] for row in rows}
    assert found["big", "large"] == found["large", "big"] == 3
    assert found["gave up", "quit"] == 2
    measures = read_measures(pipeline.unit("lexicon.phrases-measures"))
    assert measures["entries"] == len(rows)
    assert measures["similarity"]["similar"]["rankers"]["lexicon"]["covered"] == 1

    made = contents(pipeline)
    for name in ("lexicon.phrases-counts/0001-within.parquet", "lexicon.phrases/ppdb.gz"):
        unit, _, file = name.partition("/")
        (pipeline.unit(unit) / file).unlink()
    again = pipeline.run("lexicon")
    assert "lexicon_words" not in again.split("Job stats:")[1]
    assert contents(pipeline) == made
