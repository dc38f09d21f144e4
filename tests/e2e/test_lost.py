"""Files of a finished run that are gone, and times that a copy changed."""

import os
import shutil

import pytest

pytestmark = pytest.mark.e2e


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


def test_a_lost_folder_of_the_release_is_made_again_byte_for_byte(finished, copy_of):
    pipeline = copy_of(finished)
    held = lose(pipeline, "release", "micro", "report.html", "tables/*.tsv")
    pipeline.run()
    assert {path: path.read_bytes() for path in held} == held
    assert not pipeline.planned()


@pytest.mark.parametrize(
    ("unit", "name", "trained"),
    [
        ("train.forward", "params.best", "train/forward"),
        ("embed.tiny-half-micro-seed1", "model.safetensors", "embed/tiny-half-micro-seed1"),
        ("filter.half-micro", "pairs.parquet", "embed/tiny-half-micro-seed1"),
        ("clean", "0000.parquet", "train/forward, train/backward"),
    ],
)
def test_what_would_cost_a_training_stops_the_run(finished, copy_of, unit, name, trained):
    pipeline = copy_of(finished)
    lose(pipeline, unit, name)
    output = pipeline.fail("--dry-run")
    assert f"/{name} is gone. To make it again would train once more: {trained}" in output
    stage = unit.partition(".")[0]
    assert f"--forcerun {stage}" in output
    # Whoever asks for it gets it; and a stage that does not stand on it can be asked for.
    assert any(rule.startswith(f"{stage}_") for rule in pipeline.planned("--forcerun", stage))
    assert not pipeline.planned("corpus")


def test_a_lost_file_that_is_put_back_makes_nothing_again(finished, copy_of):
    pipeline = copy_of(finished)
    held = lose(pipeline, "train.forward", "params.best")
    for path, content in held.items():
        path.write_bytes(content)
    assert not pipeline.planned("--max-checksum-file-size", "0")


@pytest.mark.parametrize("kept", [(".snakemake",), ()], ids=["all", "results alone"])
def test_a_copy_without_times_makes_nothing_again(finished, copy_of, kept):
    pipeline = copy_of(finished)
    paths = [path for path in (pipeline.folder / "results").rglob("*") if path.is_file()]
    # As `cp -r` leaves them: in any order, here the one that Snakemake likes least.
    for second, path in enumerate(sorted(paths, key=lambda path: -path.stat().st_mtime_ns)):
        os.utime(path, (1_700_000_000 + second, 1_700_000_000 + second))
    if not kept:
        shutil.rmtree(pipeline.folder / ".snakemake")
    assert not pipeline.planned("--max-checksum-file-size", "0")


def test_a_unit_of_other_content_than_its_readers_knew_is_judged_by_its_times(finished, copy_of):
    pipeline = copy_of(finished)
    manifest = pipeline.unit("select.micro") / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace("rows_in", "rows_in", 1) + " ", "utf-8")
    planned = pipeline.planned("--max-checksum-file-size", "0")
    assert {"filter_columns", "evaluate_measures", "release_export"} & planned.keys()


@pytest.mark.parametrize("unit", ["train.forward", "select.micro", "release"])
def test_a_changed_digit_of_a_manifest_is_found_while_planning(finished, copy_of, unit):
    pipeline = copy_of(finished)
    manifest = pipeline.unit(unit) / "manifest.json"
    content = manifest.read_text("utf-8")
    manifest.write_text(content.replace('"version": ', '"version": 1', 1), "utf-8")
    output = pipeline.fail("--dry-run")
    name = manifest.relative_to(pipeline.folder.resolve())
    assert f"{name} is damaged (" in output
    assert "delete it and run again" in output
    manifest.write_text(content, "utf-8")
    assert not pipeline.planned()
