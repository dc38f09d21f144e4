"""The same data and configuration in other folders: the same bytes."""

import shutil
from pathlib import Path

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline, sha256

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

# What tells of the machine and of the time: nothing of it is released or read by a later stage.
_OF_THE_MACHINE = {"logs", "benchmarks", "work", ".arguments", ".input_hashes.json", "timings.json"}


def results(pipeline: Pipeline) -> dict[str, Path]:
    """Return all files of the results by their names there, but those of the machine."""
    folder = pipeline.folder / "results"
    return {
        name.as_posix(): folder / name
        for name in (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        if not _OF_THE_MACHINE & set(name.parts)
    }


def test_a_run_elsewhere_is_the_same_to_the_byte(finished, tmp_path):
    here = Path(finished.config["data"])
    data = Path(shutil.copytree(here, tmp_path / "further down" / "texts"))
    other = Pipeline(tmp_path / "work here", micro.config(data))
    other.run()
    one, two = results(finished), results(other)
    assert {name: sha256(path) for name, path in one.items()} == {
        name: sha256(path) for name, path in two.items()
    }
    assert "release" in {name.split("/")[0] for name in one}
    for name, path in one.items():
        content = path.read_bytes()
        for folder in (here, finished.folder):
            assert str(folder).encode() not in content, name
