"""Odd places: folders of any name for the workflow, the data and the results; other locales.

What must not matter changes no byte.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.e2e import micro, test_rewriting
from tests.e2e.pipeline import ROOT, Pipeline, result_sums

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

CLONED = ("Snakefile", "config.yaml", "config", "envs", "profiles", "rules", "workflow_scripts")


def clone(folder):
    """Copy the workflow into a folder."""
    folder.mkdir()
    for name in CLONED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    return folder / "Snakefile"


def test_the_workflow_may_lie_in_a_folder_of_any_name(bitext, tmp_path):
    pipeline = Pipeline(tmp_path / "work", micro.config(bitext))
    pipeline.snakefile = clone(tmp_path / "a b quo'\"te $(touch x) `y` žluťoučký")
    pipeline.run("corpus")
    assert pipeline.manifest("corpus.train")["rows_out"] == micro.SIZES["train"]
    assert not list(tmp_path.rglob("x"))


def test_a_folder_from_which_nothing_can_run_is_refused(bitext, tmp_path):
    pipeline = Pipeline(tmp_path / "work", micro.config(bitext))
    pipeline.snakefile = clone(tmp_path / "{x}")
    why = "'{' begins a variable for Snakemake"
    assert f"the workflow is {tmp_path}/{{x}}, and {why}; rename" in pipeline.fail("corpus")


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


@pytest.fixture
def turkish(tmp_path):
    """An environment in which a small I has no dot, and texts are sorted otherwise."""
    if not shutil.which("localedef") or not Path("/usr/share/i18n/locales/tr_TR").exists():
        pytest.skip("no Turkish locale can be made here: apt-get install locales")
    place = tmp_path / "locales"
    place.mkdir()
    made = ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(place / "tr_TR.UTF-8")]
    subprocess.run(made, check=True)
    environment = {"LOCPATH": str(place), "LC_ALL": "tr_TR.UTF-8"}
    read = ["python", "-c", "import locale; print(locale.setlocale(locale.LC_ALL, ''))"]
    inherited = os.environ | environment
    told = subprocess.run(read, env=inherited, capture_output=True, text=True, check=True).stdout
    assert told == "tr_TR.UTF-8\n"
    return environment


@pytest.fixture
def another_user():
    """The command before which the same files belong to a user without a name or a home."""
    command = ["unshare", "--user", "--map-user=4321", "--map-group=4321"]
    told = subprocess.run([*command, "id", "-u"], capture_output=True, text=True, check=False)
    if told.stdout != "4321\n":
        pytest.skip(f"another user can't be had here: {told.stderr.strip()}")
    return command


def contents(pipeline):
    """The SHA-256 of each data file of a run by its path, without the times."""
    sums = result_sums(pipeline.folder)
    return {path: told.partition(" ")[0] for path, told in sums.items()}


def run_in(pipeline, *targets):
    """Run it with a umask that hides all from others."""
    before = os.umask(0o077)
    try:
        pipeline.run(*targets)
    finally:
        os.umask(before)


def test_a_place_changes_no_byte(whole, tmp_path, turkish):
    """One core, another hash seed, locale, time zone and folders; with every stage."""
    here = Path(whole.config["data"])
    data = shutil.copytree(here, tmp_path / "further down" / "texts")
    other = Pipeline(tmp_path / "ein Ordner ñ€", whole.config | {"data": str(data)})
    other.cores = 1
    other.environment |= {"PYTHONHASHSEED": "random", "TZ": "UTC-14"} | turkish
    run_in(other)
    expected, made = contents(whole), contents(other)
    assert [path for path, told in expected.items() if made.get(path) != told] == []
    # Nothing that is released or read by a later stage tells of the machine.
    for name in expected:
        content = (whole.folder / name).read_bytes()
        for folder in (here, whole.folder):
            assert str(folder).encode() not in content, name


def test_another_user_and_a_copy_without_times_change_no_byte(
    finished, once, tmp_path, another_user
):
    snakefile = clone(tmp_path / "a copy")
    for path in (tmp_path / "a copy").rglob("*"):
        os.utime(path, (0, 0))
    run = test_rewriting.written(finished, once)
    other = Pipeline(tmp_path / "ein Ordner ñ€", run.config)
    shutil.copytree(run.folder / "bart", other.folder / "bart")  # a model of the user's
    other.cores = 1
    other.before = another_user
    other.snakefile = snakefile
    other.environment |= {"PYTHONHASHSEED": "7", "TZ": "UTC+12", "LC_ALL": "C"}
    other.environment |= {"HOME": str(tmp_path / "none"), "USER": "other", "LOGNAME": "other"}
    run_in(other, "release")
    # A datasheet names the commit of the workflow, which a copy without its history does not know.
    units = run.units().keys() - {"release"}
    assert len(units) > 30
    assert other.hashes(*units) == run.hashes(*units)


_SCORES = ("score", "forward_nll", "backward_nll")


def test_shards_change_no_text_and_no_order(finished, copy_of):
    """What differs is listed in docs/scaling.md: intervals, embeddings and encoders."""
    config = micro.merged(finished.config, {"shards": {"late": 2}})
    other = copy_of(finished).with_config(config)
    other.run("release")
    tables = [
        pq.read_table(pipeline.unit("release") / "micro" / "paraphrases.parquet").to_pylist()
        for pipeline in (finished, other)
    ]
    for row, as_before in zip(*tables, strict=True):
        scores, before = (
            [paraphrase.pop(name) for paraphrase in each["paraphrases"] for name in _SCORES]
            for each in (row, as_before)
        )
        assert scores == pytest.approx(before, abs=1e-5)
        assert row == as_before
    assert any(row["paraphrases"] for row in tables[0])
