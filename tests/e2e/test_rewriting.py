"""A system that a rewriter writes, beside one of the forward model, on top of a finished run.

A lexicon is made as well: tests of commands read it.
"""

import csv
import json

import pytest

from tests.configs import changes
from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from tests.unit.rewrite.paraphrasers import write_paraphraser
from workflow_scripts.core.files.manifest import shard_paths
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import JudgedRow, ParaphrasesRow, ScoredRow
from workflow_scripts.stages.generate.candidates import held_out_references

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

CHANGES = changes("""
run: {systems: [micro, beam, mono, hub], rewriters: [plain, again, bart], embeddings: [],
  lexicons: [phrases]}
lexicons.phrases: {training_sets: [short], attested: false}
# Its references are all of the run; plain learns from pairs from outside as well.
rewriters.again: {training_sets: [half], held_out: {dev: 2, test: 3}, vocab_size: 60,
  model: micro, beam: 2}
# A finished model reads the same references, as the draw of them is the same.
rewriters.bart: {training_sets: [half], held_out: {dev: 2, test: 3}, model: bart, beam: 2,
  prefix: "paraphrase: "}
models.bart: {folder: bart, licence: cc-by-nc-4.0}
systems.beam: &beam
  search: {method: beam, beam_size: 3, nbest: 1}
  constraints:
    without_words: free
    variants: {s28: null, s34: {kind: negative, choose: {first: 3}}}
  score: {prune_above: null}
  select: {method: nbest, best: 2, keep: {quantile: 1.0}}
systems.mono: {<<: *beam, rewriter: {name: again}}
# A judge, fitted to labels of this text, chooses among what the finished model writes.
systems.hub:
  <<: *beam
  rewriter: {name: bart}
  search: {method: sample, k: 10, samples: 4}
  select: {method: judged, judge: own, clusters: 3, best: 2,
    keep: {quantile: null, probability_quantile: 0.5}}
judges.own: {labels: labels.tsv, features: [overlap_1, backward_gain]}
training_sets.half.systems: [micro]
evaluate: {rewriting: [[beam, mono], [beam, hub]], columns: []}
""")


def written(finished, once):
    """Return the finished run."""
    config = micro.merged(finished.config, CHANGES)

    def make(folder):
        copy = finished.copy(folder).with_config(config)
        write_paraphraser(folder / "bart", "Bart")
        copy.run("release")

    return Pipeline(once("written", make), config)


def test_a_rewriter_writes_a_system_that_is_scored_selected_and_released(finished, copy_of, once):
    pipeline = copy_of(finished).with_config(micro.merged(finished.config, CHANGES))
    write_paraphraser(pipeline.folder / "bart", "Bart")
    planned = pipeline.planned("release")
    # What was there stays: the first system, the models and the first rewriter.
    assert planned["generate_shard"] == planned["score_shard"] == 3
    assert planned["rewrite_train"] == planned["rewrite_take_over"] == 1
    assert planned["rewrite_pairs"] == planned["rewrite_measure"] == 2
    assert not {"train_model", "generate_references"} & {*planned}
    assert planned["evaluate_rewriting"] == 2
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
    compare_finished(pipeline, held_out)
    release = pipeline.unit("release")
    with (release / "tables" / "rewriting.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert {row["side"] for row in rows} == {"bilingual", "monolingual"}
    assert '<h2 id="rewriting">' in (release / "report.html").read_text("utf-8")
    datasheet = (release / "mono" / "README.md").read_text("utf-8")
    assert "written by the rewriter `again`" in datasheet
    assert "rewriter" not in (release / "beam" / "README.md").read_text("utf-8").split("## How")[0]
    datasheet = (release / "hub" / "README.md").read_text("utf-8")
    assert "It is the finished model `bart`, which this run did not train." in datasheet
    assert "| rewriter_bart | folder bart | cc-by-nc-4.0 | not known |" in datasheet


def compare_finished(pipeline, held_out):
    """Look at the folder, the outputs and the measures of the finished model."""
    found = json.loads((pipeline.unit("evaluate.hub") / "rewriting.json").read_text("utf-8"))
    pair = found["bilingual"]["beam"]
    assert pair["references"] == len(held_out)
    assert all(variant["monolingual"]["outputs"] > 0 for variant in pair["variants"].values())
    taken, own = pipeline.unit("rewrite.bart"), pipeline.unit("rewrite.again")
    of_both = {"rewriter.json", "model.json", "metrics.json", "source.model", "reference.model"}
    assert of_both <= {path.name for path in taken.iterdir() if (own / path.name).exists()}
    assert (pipeline.unit("rewrite.bart-measures") / "measures.json").is_file()
    outputs = list(read_rows(pipeline.unit("score.hub") / "0000.parquet", ScoredRow))
    assert {row["id"] for row in outputs} == held_out
    judged = list(read_rows(pipeline.unit("judge.hub") / "0000.parquet", JudgedRow))
    found = {
        row["id"]: dict(
            zip([one["text"] for one in row["candidates"]], of["probabilities"], strict=True)
        )
        for row, of in zip(outputs, judged, strict=True)
    }
    chosen = list(read_rows(pipeline.unit("select.hub") / "0000.parquet", ParaphrasesRow))
    probabilities = [
        (each["probability"], found[row["id"]][each["text"]])
        for row in chosen
        for each in row["paraphrases"]
    ]
    assert probabilities and all(released == of > 0 for released, of in probabilities)
