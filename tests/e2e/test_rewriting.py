"""A system that a rewriter writes, beside one of the forward model, on top of a finished run.

A lexicon is made as well: tests of commands read it.
"""

import csv
import json

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from workflow_scripts.core.files.manifest import shard_paths
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ScoredRow
from workflow_scripts.stages.generate.candidates import held_out_references

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

BEAM = {
    "search": {"method": "beam", "beam_size": 3, "nbest": 1},
    "constraints": {
        "without_words": "free",
        "variants": {"s28": None, "s34": {"kind": "negative", "choose": {"first": 3}}},
    },
    "score": {"prune_above": None},
    "select": {"method": "nbest", "best": 2, "keep": {"quantile": 1.0}},
}
CHANGES = {
    "run": {
        **{"systems": ["micro", "beam", "mono"], "rewriters": ["plain", "again"]},
        **{"embeddings": [], "lexicons": ["phrases"]},
    },
    "lexicons": {"phrases": {"training_sets": ["short"], "attested": False}},
    # Its references are all of the run; plain learns from pairs from outside as well.
    "rewriters": {
        "again": {
            **{"training_sets": ["half"], "held_out": {"dev": 2, "test": 3}, "vocab_size": 60},
            **{"model": "micro", "beam": 2},
        }
    },
    "systems": {
        "beam": BEAM,
        "mono": {**BEAM, "rewriter": {"name": "again"}},
    },
    "training_sets": {"half": {"systems": ["micro"]}},
    "evaluate": {"rewriting": [["beam", "mono"]], "columns": []},
}


def written(finished, once):
    """Return the finished run."""
    config = micro.merged(finished.config, CHANGES)

    def make(folder):
        finished.copy(folder).with_config(config).run("release")

    return Pipeline(once("written", make), config)


def test_a_rewriter_writes_a_system_that_is_scored_selected_and_released(finished, copy_of, once):
    pipeline = copy_of(finished).with_config(micro.merged(finished.config, CHANGES))
    planned = pipeline.planned("release")
    # What was there stays: the first system, the models and the first rewriter.
    assert planned["generate_shard"] == planned["score_shard"] == 2
    assert planned["rewrite_train"] == planned["rewrite_pairs"] == 1
    assert not {"train_model", "generate_references"} & {*planned}
    assert planned["evaluate_rewriting"] == 1
    assert planned["evaluate_bounds"] == 2  # of micro, whose columns are others, and beam
    pipeline = written(finished, once)

    held_out = held_out_references(shard_paths(pipeline.unit("rewrite.again-pairs"), 2))
    scored = {
        system: list(read_rows(pipeline.unit(f"score.{system}") / "0000.parquet", ScoredRow))
        for system in ("beam", "mono")
    }
    assert {row["id"] for row in scored["mono"]} == held_out
    assert held_out < {row["id"] for row in scored["beam"]}
    assert any(row["candidates"] for row in scored["mono"])
    sums = [one["sum"] for row in scored["mono"] for one in row["candidates"]]
    assert all(total > 0 for total in sums)

    record = json.loads((pipeline.unit("generate.mono") / "0000.json").read_text("utf-8"))
    assert record["rejected"] == {"not_held_out": len(scored["beam"]) - len(held_out)}
    found = json.loads((pipeline.unit("evaluate.mono") / "rewriting.json").read_text("utf-8"))
    pair = found["bilingual"]["beam"]
    assert pair["references"] == len(held_out)
    outputs = {
        name: sum(
            name in one["variant"].split() for row in scored["mono"] for one in row["candidates"]
        )
        for name in ("s28", "s34")
    }
    for name, variant in pair["variants"].items():
        assert 0 < variant["monolingual"]["outputs"] <= outputs[name]
    release = pipeline.unit("release")
    with (release / "tables" / "rewriting.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert {row["side"] for row in rows} == {"bilingual", "monolingual"}
    assert '<h2 id="rewriting">' in (release / "report.html").read_text("utf-8")
    datasheet = (release / "mono" / "README.md").read_text("utf-8")
    assert "written by the rewriter `again`" in datasheet
    assert "rewriter" not in (release / "beam" / "README.md").read_text("utf-8").split("## How")[0]
