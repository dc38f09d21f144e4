"""Odd places: folders of any name for the workflow, the data and the results; other locales."""

import shutil

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import ROOT, Pipeline

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

CLONED = ("Snakefile", "config.yaml", "config", "envs", "profiles", "rules", "workflow_scripts")


def clone(folder):
    """Copy the workflow into a folder."""
    folder.mkdir()
    for name in CLONED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    return folder / "Snakefile"


@pytest.mark.parametrize("name", ["a b", "quo'\"te $(touch x) `y`", "žluťoučký"])
def test_the_workflow_may_lie_in_a_folder_of_that_name(bitext, tmp_path, name):
    pipeline = Pipeline(tmp_path / "work", micro.config(bitext))
    pipeline.snakefile = clone(tmp_path / name)
    pipeline.run("corpus")
    assert pipeline.manifest("corpus.train")["rows_out"] == micro.SIZES["train"]
    assert not list(tmp_path.rglob("x"))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a:b", "':' separates folders in PYTHONPATH"),
        ("{x}", "'{' begins a variable for Snakemake"),
        ("x}", "'}' ends a variable for Snakemake"),
    ],
)
def test_a_folder_from_which_nothing_can_run_is_refused(bitext, tmp_path, name, why):
    pipeline = Pipeline(tmp_path / "work", micro.config(bitext))
    pipeline.snakefile = clone(tmp_path / name)
    output = pipeline.fail("corpus")
    assert f"the folder of the workflow is {tmp_path}/{name}, and {why}; rename" in output


@pytest.fixture
def foreign(tmp_path):
    """A run whose every folder has a name that is not English."""
    data = micro.write_bitext(tmp_path / "čeština, 日本語")
    config = micro.config(data) | {"results": str(tmp_path / "výsledky")}
    pipeline = Pipeline(tmp_path / "práce", config)
    pipeline.environment |= {"LC_ALL": "C", "LANG": "C"}
    return pipeline


def test_names_that_are_not_english_are_read_without_a_locale(foreign):
    foreign.run("clean")
    assert foreign.manifest("corpus.train")["rows_out"] == micro.SIZES["train"]
    assert not foreign.planned("clean")


def test_a_python_that_is_told_to_read_names_otherwise_is_refused(foreign):
    foreign.environment |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    output = foreign.fail("clean")
    assert "the locale's encoding is ascii" in output
    assert "set PYTHONUTF8=1, or a locale of UTF-8" in output
