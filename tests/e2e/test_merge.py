"""Runs of several source languages, merged to one corpus (docs/systems.md)."""

from collections import Counter

import datasets
import pytest

from tests.configs import changes
from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

LANGUAGES = {"cs": "micro", "de": "second"}


SECOND = """
run: {name: second, training_sets: [], embeddings: [], rewriters: []}
languages.source.code: de
generate.limit: {train: 12, held_out: 4}
systems.micro.select: {method: nbest, best: 3}
evaluate.columns: []
"""
MERGED = """
run: {name: merged, corpora: [], systems: [both, only_cs, only_de], training_sets: [all_of_it],
  embeddings: [tiny], rewriters: []}
systems.both:
  merge: {cs: &cs {run: micro, system: micro}, de: &de {run: second, system: micro}}
  select: &select {method: nbest, best: 4, keep: {quantile: 1.0}}
systems.only_cs: {merge: {cs: *cs}, select: *select}
systems.only_de: {merge: {de: *de}, select: *select}
columns.fluency.language_model.corpora: null
training_sets.all_of_it: {}
generate.limit: null
evaluate: {columns: [score, told], reference_scores: false, ratings: null}
release: {title: Merged paraphrases, licence: null}
"""


def second(config):
    """Return a run of another source language that shares references with the micro run."""
    return micro.merged(config, changes(SECOND))


def merge(config):
    """Return the run that merges both, and shows each beside it."""
    return micro.merged(config, changes(MERGED))


@pytest.fixture(scope="module")
def merged(finished, once):
    return both_merged(finished, once)


def both_merged(finished, once):
    """Return the finished merge, in one working directory with both runs that it merges."""

    def make(folder):
        finished.copy(folder).with_config(second(finished.config)).run()
        Pipeline(folder, merge(finished.config)).run()

    return Pipeline(once("merged", make), merge(finished.config))


def selected(pipeline, run, system="micro"):
    """Return the rows that a run of the same working directory selected."""
    folder = (pipeline.folder / "runs" / run / f"select.{system}").resolve()
    shards = sorted(folder.glob("[0-9]*.parquet"))
    return [row for path in shards for row in read_rows(path, ParaphrasesRow)]


def test_the_counts_of_the_merge_add_up(merged):
    inputs = [row for run in LANGUAGES.values() for row in selected(merged, run)]
    manifest = merged.manifest("score.both")
    assert manifest["rows_in"] == len(inputs)
    distinct = {row["reference"].casefold().rstrip(".") for row in inputs}
    assert manifest["rows_out"] == len(distinct) < len(inputs)
    assert manifest["rejected"] == {"same_reference": len(inputs) - len(distinct)}
    extra = Counter()
    for part in manifest["parts"].values():
        extra.update(part.get("extra", {}))
    assert extra["paraphrases"] == sum(len(row["paraphrases"]) for row in inputs)
    candidates = Counter()
    for part in merged.manifest("select.both")["parts"].values():
        candidates.update(part.get("extra", {}).get("candidates", {}))
    assert sum(candidates.values()) == extra["distinct"]


def test_the_release_opens_with_datasets_and_tells_every_source(merged):
    folder = merged.unit("release") / "both"
    corpus = datasets.load_dataset(
        "parquet", data_files=str(folder / "paraphrases.parquet"), split="train"
    )
    assert len(corpus) == merged.manifest("score.both")["rows_out"]
    of = {
        run: {row["reference"]: row for row in selected(merged, run)} for run in ("micro", "second")
    }
    shared = set(of["micro"]) & set(of["second"])
    assert shared
    for row in corpus:
        languages = {source["language"] for source in row["sources"]}
        assert languages == {code for code, run in LANGUAGES.items() if row["reference"] in of[run]}
        for paraphrase in row["paraphrases"]:
            for source in paraphrase["sources"]:
                given = of[LANGUAGES[source["run"]]][row["reference"]]
                assert given["corpus"] == source["corpus"]
                assert source["language"] == source["run"]
                assert paraphrase["text"] in [each["text"] for each in given["paraphrases"]]


def test_the_datasheet_tells_the_runs_and_the_report_each_of_them(merged):
    folder = merged.unit("release")
    sheet = (folder / "both" / "README.md").read_text(encoding="utf-8")
    for run, language in (("micro", "cs"), ("second", "de")):
        assert f"| {language} | {run} | micro | {language} | `select/micro/v" in sheet
    assert "(cs, de–en)" in sheet
    assert "cc0-1.0, as the makers" in sheet.replace("`", "")
    report = (folder / "report.html").read_text(encoding="utf-8")
    for name in ("both", "only_cs", "only_de"):
        assert name in report
    assert "cs:train" in report
    assert str(merged.folder) not in sheet + report


def test_each_system_has_a_training_set_and_a_row_beside_the_others(merged):
    table = (merged.unit("release") / "tables" / "sts.tsv").read_text(encoding="utf-8")
    for system in ("both", "only_cs", "only_de"):
        assert f"all_of_it-{system}" in table
    assert (merged.unit("filter.all_of_it-both") / "pairs.parquet").is_file()


def test_a_second_start_does_nothing(merged):
    assert "Nothing to be done" in merged.run("--dry-run")


def test_another_selection_of_a_run_makes_the_merge_again(merged, copy_of):
    other = copy_of(merged)
    before = other.unit("score.both").name
    own = {"name": "second", "corpora": ["train", "held_out"], "systems": ["micro"]}
    best = {"run": own, "systems": {"micro": {"select": {"best": 1}}}}
    again = micro.merged(second(merged.config), best)
    other.with_config(again).run("select")
    other = other.with_config(merged.config)
    planned = other.planned()
    assert planned["score_merge"] == 2  # of both, and of the one that changed
    other.run("score")
    assert other.unit("score.both").name != before
