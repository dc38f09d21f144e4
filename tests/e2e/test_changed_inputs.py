"""A file of the user that changes after the run was planned, and is put back later."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

# Stands for `python` in jobs: before the import of one corpus begins, another program changes it.
PYTHON = """#!/bin/sh
case "$*" in
*corpus.importer*'"name":"held_out"'*)
    if mv {folder}/edit.sh {folder}/edited.sh 2>/dev/null; then sh {folder}/edited.sh; fi
esac
exec {python} "$@"
"""


def hooked(pipeline: Pipeline, folder: Path, edit: str) -> None:
    """Let a shell command run once, when the job of the corpus `held_out` starts."""
    folder.mkdir()
    (folder / "edit.sh").write_text(edit, encoding="utf-8")
    program = folder / "python"
    program.write_text(PYTHON.format(folder=folder, python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    pipeline.environment["PATH"] = f"{folder}{os.pathsep}{pipeline.environment['PATH']}"


def data_of(pipeline: Pipeline, units: list[str]) -> dict[str, str]:
    """Return the hashes of units' files; manifests name the folder of the user's data."""
    found = pipeline.hashes(*units)
    return {name: each for name, each in found.items() if not name.endswith("/manifest.json")}


@pytest.mark.parametrize(
    "edit",
    [
        "sed -i 1,9d held_out.cs; sed -i 1,9d held_out.en",
        "sed -i 's/vid/VID/' held_out.cs",
        "rm held_out.cs",
    ],
    ids=["lines are gone", "of the same size", "the file is gone"],
)
def test_a_file_that_changed_after_planning_fails_its_job_and_put_back_it_is_read(
    bitext, finished, tmp_path, edit
):
    data, kept = tmp_path / "data", tmp_path / "kept"
    shutil.copytree(bitext, data)
    shutil.copytree(bitext, kept)
    pipeline = Pipeline(tmp_path / "work", micro.config(data))
    hooked(pipeline, tmp_path / "hook", f"cd {data} && {{ {edit}; }}")

    output = pipeline.fail("corpus")
    assert (tmp_path / "hook" / "edited.sh").exists()
    assert f"error: {data}/held_out.cs" in output
    assert "nothing was written; start the run again" in output
    assert not list((pipeline.folder / "results" / "corpus" / "held_out").rglob("*.parquet"))

    for name in ("held_out.cs", "held_out.en"):
        subprocess.run(["cp", "-p", kept / name, data / name], check=True)
    assert {"corpus_import": 1}.items() <= pipeline.planned("corpus").items()
    pipeline.run("corpus")
    corpora = [name for name in pipeline.units() if name.startswith("corpus.")]
    assert "corpus.held_out" in corpora
    assert data_of(pipeline, corpora) == data_of(finished, corpora)
    assert not pipeline.planned("corpus")
