"""What runs again, and what does not, once a run is finished."""

import json
import math
import shutil
from collections import Counter

import pytest

from tests.e2e import micro
from tests.e2e.micro import merged
from tests.e2e.pipeline import Pipeline, stages_of
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ReferenceScoreRow

pytestmark = pytest.mark.e2e

NOTHING = "Nothing to be done"
FEWER = {"systems": {"micro": {"select": {"keep": {"quantile": 0.3}}}}}
AFTER_SELECT = {"select", "filter", "embed", "evaluate", "rewrite", "release"}
LANGUAGE_MODEL = {"filter.fluency", "filter.fluency-micro"} if micro.HAS_KENLM else set()
# Of pairs from outside.
OUTSIDE = {
    *("filter.given", "filter.short-given"),
    *("embed.tiny-short-given-seed1", "embed.tiny-short-given-seed2"),
}
# What these stages make of the bitext or of other files, whatever is selected.
APART = {"embed.evaluation", "filter.fluency", *OUTSIDE}


def modification_times(pipeline: Pipeline, *units: str) -> dict[str, int]:
    """When each file was written, but for the checkpoints that trainings keep."""
    return {
        str(path): path.stat().st_mtime_ns
        for name in units
        for path in pipeline.unit(name).rglob("*")
        if path.is_file() and "work" not in path.relative_to(pipeline.unit(name)).parts
    }


def folder_counts(pipeline: Pipeline, stages) -> Counter[str]:
    return Counter({stage: len(pipeline.folders(stage)) for stage in stages})


def units_after_select(pipeline: Pipeline) -> set[str]:
    return {name for name in pipeline.units() if name.split(".")[0] in AFTER_SELECT} - APART


def selected(pipeline: Pipeline) -> int:
    return pipeline.manifest("select.micro")["parts"]["0000"]["extra"]["candidates"]["selected"]


def test_finished_run_has_nothing_left_to_do(whole):
    assert NOTHING in whole.run("--dry-run")


@pytest.mark.rest
def test_every_unit_of_the_run_is_linked_and_has_its_manifest(finished):
    assert set(finished.units()) == {
        *("corpus.train", "corpus.held_out", "corpus.dev", "corpus.test", "clean"),
        *("subword.main", "train.forward", "train.backward"),
        *("generate.references", "generate.micro", "score.micro", "select.micro"),
        "score.references",
        *("filter.micro", "filter.score-micro", "filter.told-micro", "filter.half-micro"),
        *("embed.evaluation", "embed.tiny-half-micro-seed1", "embed.tiny-half-micro-seed2"),
        *("embed.sts", "evaluate.micro", "release"),
        *("rewrite.plain-pairs", "rewrite.plain-subword", "rewrite.plain"),
        *("rewrite.plain-measures", "rewrite.plain-repair"),
        *LANGUAGE_MODEL,
        *OUTSIDE,
    }
    assert all((folder / "manifest.json").is_file() for folder in finished.units().values())


def test_nothing_but_whole_files_is_left_behind(whole):
    assert not list((whole.folder / "results").rglob(".*.tmp"))
    assert not list((whole.folder / ".snakemake" / "incomplete").iterdir())


@pytest.mark.rest
def test_another_threshold_selects_into_new_folders_and_changing_back_costs_nothing(
    finished, copy_of
):
    first = copy_of(finished)
    before = first.hashes()
    folders = {name: folder.name for name, folder in first.units().items()}

    second = first.with_config(merged(finished.config, FEWER))
    assert stages_of(second.planned()) == AFTER_SELECT
    assert {name: folder.name for name, folder in first.units().items()} == folders
    second.run()

    moved = {name for name, folder in second.units().items() if folder.name != folders[name]}
    assert moved == units_after_select(second)
    stages = Counter(name.split(".")[0] for name in (*second.units(), *moved))
    assert folder_counts(second, AFTER_SELECT) == {name: stages[name] for name in AFTER_SELECT}
    scored = {second.unit(f"score.{instance}") for instance in ("micro", "references")}
    assert second.folders("score") == scored
    assert 0 < selected(second) < selected(finished)

    back = second.with_config(finished.config)
    assert NOTHING in back.run()
    assert {name: folder.name for name, folder in back.units().items()} == folders
    assert back.hashes() == before
    assert NOTHING in back.with_config(second.config).run("--dry-run")


@pytest.mark.rest
def test_a_threshold_in_terms_of_the_references_needs_no_new_scores(finished, copy_of):
    first = copy_of(finished)
    keep = {"quantile": None, "reference_quantile": 0.9}
    by_references = {"systems": {"micro": {"select": {"keep": keep}}}}
    second = first.with_config(merged(finished.config, by_references))
    assert stages_of(second.planned()) == AFTER_SELECT
    second.run()

    rows = read_rows(second.unit("score.references") / "0000.parquet", ReferenceScoreRow)
    sums = sorted(row["sum"] for row in rows)
    found = json.loads((second.unit("select.micro") / "threshold.json").read_text())
    assert found["max_sum"] == sums[math.ceil(0.9 * len(sums)) - 1]
    assert found["references"]["references"] == len(sums) == 16
    bounds = json.loads((second.unit("evaluate.micro") / "bounds.json").read_text())
    assert bounds["used"] == found["max_sum"]
    assert "Bounds" in (second.unit("release") / "report.html").read_text(encoding="utf-8")


@pytest.mark.rest
def test_forcing_a_stage_runs_all_of_it_and_what_follows_with_the_same_result(finished, copy_of):
    pipeline = copy_of(finished)
    before = pipeline.hashes()
    again = units_after_select(pipeline)
    times = modification_times(pipeline, *again)
    earlier = modification_times(pipeline, *set(pipeline.units()) - set(again))

    planned = pipeline.planned("--forcerun", "select")
    assert {rule: planned[rule] for rule in ("select_threshold", "select_shard")} == {
        "select_threshold": 1,
        "select_shard": 1,
    }
    assert stages_of(planned) == AFTER_SELECT
    pipeline.run("--forcerun", "select")

    assert pipeline.hashes() == before
    after = modification_times(pipeline, *again)
    assert after.keys() == times.keys()
    assert all(after[path] > times[path] for path in times)
    assert modification_times(pipeline, *set(pipeline.units()) - set(again)) == earlier
    assert NOTHING in pipeline.run("--dry-run")


@pytest.mark.rest
@pytest.mark.parametrize(
    ("stage", "rules"),
    [
        ("corpus", {"corpus_import": 4}),
        ("generate", {"generate_sample": 1, "generate_references": 1, "generate_shard": 1}),
    ],
)
def test_forcing_a_stage_means_each_of_its_jobs(finished, stage, rules):
    planned = finished.planned("--forcerun", stage)
    assert {rule: planned[rule] for rule in planned if rule.startswith(f"{stage}_")} == rules


@pytest.mark.rest
def test_what_changes_no_output_is_no_reason_to_run_again(finished, copy_of):
    changes = {
        "compute": {"batch_rows": 7, "batch_tokens": 99, "train_threads": 2, "search_threads": 2},
        "corpora": {"held_out": {"trusted": True}},
    }
    pipeline = copy_of(finished).with_config(merged(finished.config, changes))
    assert NOTHING in pipeline.run("--dry-run")


@pytest.mark.rest
def test_newer_file_of_the_same_content_is_no_reason_to_run_again(bitext, tmp_path):
    data = shutil.copytree(bitext, tmp_path / "data")
    pipeline = Pipeline(tmp_path / "work", micro.config(data))
    pipeline.run("corpus")
    (data / "train.cs").touch()
    # Snakemake compares the content of small files itself; this is how it treats large ones.
    by_time = ("corpus", "--max-checksum-file-size", "0")
    assert NOTHING in pipeline.run(*by_time, "--dry-run")
    # Nor where the run ended before the manifest, so that Snakemake looks at the import.
    (pipeline.unit("corpus.train") / "manifest.json").unlink()
    assert pipeline.planned(*by_time) == {"manifest": 1, "corpus": 1}
    with (data / "train.cs").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    assert pipeline.planned("corpus")["corpus_import"] == 1
