"""Files of a finished run that are gone, and times that a copy changed."""

import base64
import fcntl
import os
import shutil
import sys

import pytest

from tests.e2e.micro import merged

pytestmark = [pytest.mark.e2e, pytest.mark.rest]


def lose(pipeline, unit, *names):
    """Delete files or folders of a unit; return what they held, by path."""
    folder = pipeline.unit(unit)
    held = {}
    for name in names:
        for path in sorted(folder.glob(name)):
            files = [each for each in path.rglob("*") if each.is_file()] or [path]
            held |= {each: each.read_bytes() for each in files}
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    assert held
    return held


@pytest.mark.parametrize(
    ("unit", "names", "jobs"),
    [
        ("clean", ["rejected/0000.tsv.zst"], {"clean_shard"}),
        ("clean", ["manifest.json"], {"manifest"}),
        ("corpus.dev", ["rejected.tsv.json", "manifest.json"], {"corpus_import", "manifest"}),
        ("clean", ["rejected/0000.tsv.json"], {"clean_shard"}),
        ("release", ["report.html"], {"release_report"}),
        ("release", ["tables/bins.tsv"], {"release_tables"}),
        ("release", ["micro/README.md"], {"release_datasheet", "release_checksums"}),
        ("release", ["micro/paraphrases.parquet"], {"release_export", "release_datasheet"}),
        ("evaluate.micro", ["measures.json"], {"evaluate_measures"}),
    ],
)
def test_lost_files_are_planned_again(finished, copy_of, unit, names, jobs):
    pipeline = copy_of(finished)
    lose(pipeline, unit, *names)
    assert jobs <= pipeline.planned().keys()


def test_lost_files_are_planned_beside_a_rule_that_is_forced(finished, copy_of):
    pipeline = copy_of(finished)
    lose(pipeline, "evaluate.micro", "measures.json")
    planned = pipeline.planned("--forcerun", "evaluate_statistics")
    assert planned["evaluate_measures"] == planned["evaluate_statistics"] == 1


def test_a_lost_file_hides_nothing_that_is_still_to_be_made(finished, copy_of):
    """A finished unit stands between what is lost and the stage that the run never came to."""
    pipeline = copy_of(finished)
    held = lose(pipeline, "corpus.train", "rejected.tsv.zst") | lose(pipeline, "select.micro", "*")
    assert {"corpus_import", "select_shard"} <= pipeline.planned("select").keys()
    pipeline.run("select")
    assert {path: path.read_bytes() for path in held} == held
    assert not pipeline.planned()


def test_a_lost_folder_of_the_release_is_made_again_byte_for_byte(finished, copy_of):
    pipeline = copy_of(finished)
    held = lose(pipeline, "release", "micro", "report.html", "tables/*.tsv")
    pipeline.run()
    assert {path: path.read_bytes() for path in held} == held
    assert not pipeline.planned()


MODELS = [
    ("train.forward", "params.best", "train/forward"),
    ("embed.tiny-half-micro-seed1", "model.safetensors", "embed/tiny-half-micro-seed1"),
    ("rewrite.plain", "params.best", "rewrite/plain"),
]
# Rules that train models for long, by stage; their jobs in the run, and how many stand on clean.
# Two embeddings learn from pairs from outside.
TRAINED_BY = {
    "train": ("train_model", 2, 2),
    "embed": ("embed_train", 4, 2),
    "rewrite": ("rewrite_train", 1, 1),
}
TRAINING = {rule for rule, *_ in TRAINED_BY.values()}
NEW_TITLE = {"release": {"title": "Another title"}}


# The same for the others: tests/unit/plan/test_finished.py.
@pytest.mark.parametrize(("unit", "name", "trained"), MODELS[:1])
def test_a_model_that_lost_a_file_stops_the_run_until_it_is_asked_for(
    finished, copy_of, unit, name, trained
):
    pipeline = copy_of(finished)
    record = (pipeline.unit(unit) / "model.json").relative_to(pipeline.folder.resolve())
    lose(pipeline, unit, name)
    output = pipeline.fail("--dry-run")
    assert f"/{name} is gone. To make it again would train once more: {trained}" in output
    assert f"add --forcerun {record}," in output
    assert "Traceback" not in output
    rule, every, after_clean = TRAINED_BY[unit.partition(".")[0]]
    # Whoever asks for it gets it, by that file or by the stage, or by a stage before it.
    assert pipeline.planned("--forcerun", str(record))[rule] == 1
    assert pipeline.planned("--forcerun", unit.partition(".")[0])[rule] == every
    assert pipeline.planned("--forcerun", "clean")[rule] == after_clean
    # What does not stand on it can be made, and so can what the user forces.
    assert not pipeline.planned("corpus")
    assert not TRAINING & pipeline.planned("--forcerun", "release").keys()
    assert not pipeline.planned("--omit-from", unit.partition(".")[0])
    assert not pipeline.planned("--until", "clean")
    assert "would train once more" in pipeline.fail("--dry-run", "--until", "release")


@pytest.mark.parametrize(("unit", "name", "trained"), MODELS)
def test_a_model_that_is_gone_as_a_whole_stops_the_run(finished, copy_of, unit, name, trained):
    pipeline = copy_of(finished)
    folder = pipeline.unit(unit)
    shutil.rmtree(folder.parent)
    output = pipeline.fail("--dry-run")
    assert f"{folder.name} is gone, of which other finished units were made" in output
    assert f"would train once more: {trained}" in output


@pytest.mark.parametrize(
    ("unit", "names", "jobs"),
    [
        ("clean", ["0000.parquet"], {"clean_shard": 1, "manifest": 1}),
        ("clean", ["*"], {"clean_shard": 2, "manifest": 2}),
        ("subword.main", ["*"], {"subword_train": 2, "subword_segment": 2, "manifest": 2}),
        ("subword.main", ["manifest.json"], {"manifest": 2}),
        ("filter.half-micro", ["pairs.parquet"], {"filter_training_set": 1, "manifest": 1}),
    ],
)
def test_what_models_were_made_of_is_made_again_without_them(finished, copy_of, unit, names, jobs):
    pipeline = copy_of(finished)
    if {"manifest.json", "*"} & set(names):  # otherwise nothing needs it
        pipeline = pipeline.with_config(merged(finished.config, NEW_TITLE))
    lose(pipeline, unit, *names)
    planned = pipeline.planned()
    released = {rule for rule in planned if rule.startswith("release_")}
    assert {rule: planned[rule] for rule in planned.keys() - released - {"all"}} == jobs


def test_a_unit_that_was_lost_is_the_same_again_and_nothing_follows(finished, copy_of):
    pipeline = copy_of(finished).with_config(merged(finished.config, NEW_TITLE))
    before = {name: pipeline.hashes(name) for name in ("clean", "train.forward", "select.micro")}
    shutil.rmtree(pipeline.unit("clean"))
    pipeline.run()
    assert {name: pipeline.hashes(name) for name in before} == before
    assert not pipeline.planned()
    assert not pipeline.with_config(finished.config).planned()


# Stands for `python` in jobs: the manifest of the stage clean ends with one more line feed.
PYTHON = """#!/bin/sh
{python} "$@" || exit
case "$*" in *core.files.manifest*" --output results/clean/"*)
    while [ "$1" != --output ]; do shift; done
    echo >> "$2"
esac
"""


def test_a_unit_that_was_made_again_with_another_content_is_told(finished, copy_of):
    pipeline = copy_of(finished).with_config(merged(finished.config, NEW_TITLE))
    shutil.rmtree(pipeline.unit("clean"))
    program = pipeline.folder / "bin" / "python"
    program.parent.mkdir()
    program.write_text(PYTHON.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    path = pipeline.environment["PATH"]
    pipeline.environment["PATH"] = f"{program.parent}{os.pathsep}{path}"
    output = pipeline.fail()
    assert "what was made again has another content than before" in output
    assert "subword/main was made of another clean" in output
    # To follow it would train the models again.
    output = pipeline.fail("--dry-run")
    assert (
        "train/forward was made of subword/main, which is to be made again with another" in output
    )
    assert "by its stage as target" in output
    pipeline.environment["PATH"] = path
    assert not TRAINING & pipeline.planned("subword").keys()
    pipeline.run("subword")
    output = pipeline.fail("--dry-run")
    assert "train/forward was made of another subword/main than is there now" in output
    for unit in ("train.forward", "train.backward"):
        (pipeline.unit(unit) / "manifest.json").unlink()
    output = pipeline.fail("--dry-run")
    assert "embed/tiny-half-micro-seed1 was made of filter/half-micro, which is to be" in output
    assert pipeline.planned("train") == {"manifest": 2, "train": 1}


@pytest.mark.parametrize("trigger", ["params", "code", "input", "software-env"])
def test_triggers_that_would_train_finished_models_again_are_refused(finished, trigger):
    output = finished.fail("--dry-run", "--rerun-triggers", "mtime", trigger)
    assert "Write 'rerun-triggers: [mtime]' into your profile" in output
    assert "Traceback" not in output


def test_without_a_profile_the_triggers_must_be_named(finished):
    assert "rerun-triggers is " in finished.fail("--dry-run", "--workflow-profile", "none")
    options = ("--workflow-profile", "none", "--rerun-triggers", "mtime")
    assert not finished.planned(*options)


def mark_as_incomplete(pipeline, unit):
    """Mark a model as Snakemake marks what a job is to make; it looks there when it starts."""
    path = (pipeline.unit(unit) / "model.json").relative_to(pipeline.folder.resolve())
    name = base64.urlsafe_b64encode(str(path).encode()).decode()
    (pipeline.folder / ".snakemake" / "incomplete" / name).write_text("{}", "utf-8")
    return path


@pytest.mark.parametrize("unit", [unit for unit, *_ in MODELS])
def test_a_training_that_outlived_its_snakemake_is_finished(finished, copy_of, unit):
    pipeline = copy_of(finished).with_config(merged(finished.config, NEW_TITLE))
    mark_as_incomplete(pipeline, unit)
    (pipeline.unit(unit) / "manifest.json").unlink()
    planned = pipeline.planned()
    assert planned["manifest"] == 2  # its own, and that of the release
    assert not TRAINING & planned.keys()


def test_a_training_that_is_planned_for_any_other_reason_is_refused(finished, copy_of):
    pipeline = copy_of(finished)
    record = mark_as_incomplete(pipeline, "train.forward")
    lose(pipeline, "generate.micro", "0000.parquet")  # otherwise no job reads the model
    before = pipeline.hashes()
    with (pipeline.folder / ".snakemake" / "alive").open("rb") as alive:
        fcntl.flock(alive, fcntl.LOCK_SH)  # the mark may be that of one who lives
        output = pipeline.fail()
    assert f"{record}: Snakemake would train this finished model again (Forced" in output
    assert pipeline.hashes() == before
    pipeline.run("--cleanup-metadata", str(record))
    assert not TRAINING & pipeline.planned().keys()


@pytest.mark.parametrize("kept", [(".snakemake",), ()], ids=["all", "results alone"])
@pytest.mark.parametrize("start", [1_700_000_000, 2_500_000_000], ids=["past", "future"])
def test_a_copy_without_times_makes_nothing_again(finished, own_copy_of, kept, start):
    pipeline = own_copy_of(finished)
    paths = [path for path in (pipeline.folder / "results").rglob("*") if path.is_file()]
    # As `cp -r` leaves them: in any order, here the one that Snakemake likes least.
    for second, path in enumerate(sorted(paths, key=lambda path: -path.stat().st_mtime_ns)):
        os.utime(path, (start + second, start + second))
    if not kept:
        shutil.rmtree(pipeline.folder / ".snakemake")
    times = {path: path.stat().st_mtime_ns for path in paths}
    assert not pipeline.planned("--max-checksum-file-size", "0")
    file = (pipeline.unit("select.micro") / "0000.parquet").relative_to(pipeline.folder.resolve())
    assert not pipeline.planned(str(file), "--max-checksum-file-size", "0")
    assert {path: path.stat().st_mtime_ns for path in paths} == times


def test_a_model_of_other_content_is_not_vouched_for_where_something_else_is_forced(
    finished, own_copy_of
):
    pipeline = own_copy_of(finished)
    manifest = pipeline.unit("subword.main") / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8") + " ", "utf-8")
    output = pipeline.run("--dry-run", "--forcerun", "release")
    assert "train/forward was made of another subword/main than is there now" in output
    assert "unit=release" in output
    assert "unit=train/" not in output
