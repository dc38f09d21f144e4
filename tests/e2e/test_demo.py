"""The demo on a few of its sentences, as `make demo` runs it."""

import subprocess
import sys

import pytest

from tests.e2e.pipeline import ROOT, Pipeline
from tests.packages import STUDENTS, require_packages
from workflow_scripts.commands.runs.show import WIDTH

pytestmark = pytest.mark.e2e
REFERENCES = 12


@pytest.fixture(scope="module")
def demo(once):
    return with_paraloom(None, once)


def with_paraloom(_, once):
    """Return the finished run; one of its systems has a judge, which commands must know."""
    require_packages(STUDENTS)
    config = {
        "run": {"name": "demo"},
        "data": str(ROOT),
        "generate": {"limit": REFERENCES},
    }
    return Pipeline(once("demo", lambda folder: Pipeline(folder, config).run()), config)


@pytest.mark.rest
def test_nothing_is_trained_but_embeddings(demo):
    assert not (demo.folder / "results" / "subword").exists()
    for role in ("forward", "backward"):
        assert demo.manifest(f"train.{role}")["rows_in"] == 0
    assert (demo.unit("embed.word-all-parabank2_demo-seed1") / "manifest.json").exists()


@pytest.mark.rest
def test_it_prints_references_with_their_paraphrases_by_both_systems(demo):
    command = [
        sys.executable,
        "-m",
        "workflow_scripts.commands.runs",
        "show",
        "demo",
        "--examples",
        "20",
    ]
    run = {**demo.environment, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(
        command, cwd=demo.folder, env=run, check=True, capture_output=True, text=True
    ).stdout
    assert max(map(len, shown.splitlines())) <= WIDTH
    assert shown.count("parabank2_demo") > REFERENCES / 2
    assert shown.count("\n  paraloom ") == shown.count("\n  parabank2_demo ")


def test_make_demo_runs_it_and_then_prints_twenty():
    planned = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "demo", "STS=sts"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "paraloom setup students" in planned
    run, summary, show = planned.splitlines()[-3:]
    assert run.endswith("snakemake --cores 2 --quiet rules --config 'sts={data: [sts]}'")
    assert summary.endswith("paraloom release summary --run runs/demo")
    assert show.endswith("paraloom runs show demo --examples 20")
