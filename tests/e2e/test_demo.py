"""The demo on a few of its sentences, as `make demo` runs it."""

import re
import subprocess
import sys
from collections import deque

import pytest
import yaml

from paraloom import set_up
from paraloom.screen import show
from tests import outputs
from tests.commands import started
from tests.e2e.pipeline import ROOT, Pipeline
from tests.packages import STUDENTS, require_packages
from workflow_scripts.commands.runs.show import WIDTH
from workflow_scripts.plan.run.events import event_files, read_events

pytestmark = pytest.mark.e2e
REFERENCES = 12


@pytest.fixture(scope="module")
def demo(once):
    return with_paraloom(None, once)


def with_paraloom(_, once):
    """Return the finished run; one of its systems has a judge, which commands must know."""
    require_packages(STUDENTS)
    config = {"run": {"name": "demo"}, "data": str(ROOT), "generate": {"limit": REFERENCES}}
    return Pipeline(once("demo", lambda folder: Pipeline(folder, config).run()), config)


@pytest.mark.rest
def test_nothing_is_trained_but_embeddings(demo):
    assert not (demo.folder / "results" / "subword").exists()
    for role in ("forward", "backward"):
        assert demo.manifest(f"train.{role}")["rows_in"] == 0
    assert (demo.unit("embed.word-all-parabank2_demo-seed1") / "manifest.json").exists()


@pytest.mark.rest
def test_it_prints_references_with_their_paraphrases_by_both_systems(demo):
    words = ["workflow_scripts.commands.runs", "show", "demo", "--examples", "20"]
    command = [sys.executable, "-m", *words]
    run = {**demo.environment, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(
        command, cwd=demo.folder, env=run, check=True, capture_output=True, text=True
    ).stdout
    assert max(map(len, shown.splitlines())) <= WIDTH
    assert shown.count("parabank2_demo") > REFERENCES / 2
    assert shown.count("\n  paraloom ") == shown.count("\n  parabank2_demo ")


@pytest.mark.rest
def test_the_screen_has_a_line_for_each_stage(demo, capsys):
    (log,) = (demo.folder / ".snakemake" / "log").glob("*.log")
    assert show(log.read_text(encoding="utf-8").splitlines(), deque())
    lines = capsys.readouterr().err.splitlines()
    shown = [line.split()[0] for line in lines if ", after" in line]
    links = [path.name for path in (demo.folder / "runs/demo").iterdir() if path.is_symlink()]
    assert sorted(shown) == sorted({name.partition(".")[0] for name in links})


# Imports modules where nothing but some packages can be: others import what happens to be there.
IMPORTS = """
import importlib, re, sys
from importlib import metadata
packages, modules = sys.argv[1].split(), sys.argv[2:]
homes = metadata.packages_distributions()
class Hidden:
    def find_spec(self, name, path=None, target=None):
        found = {re.sub("[-_.]+", "-", home).lower() for home in homes.get(name, [])}
        if found and not found & {*packages}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
for module in modules:
    importlib.import_module(module)
"""


@pytest.mark.rest
def test_what_is_installed_for_it_is_all_that_its_jobs_import(demo):
    """But for what is imported within functions: make test-wheel runs all of it."""
    files = event_files(demo.folder / "runs" / "demo")
    rules = {event.rule for file in files for event in read_events(file)}
    modules = [f"workflow_scripts.{started()[rule]}" for rule in rules & started().keys()]
    asked = [*set_up.PARTS["base"].asked, *set_up.PARTS["demo"].asked]
    installed = re.findall(r"(?m)^([\w.-]+)==", set_up.locked(tuple(asked)))
    command = [sys.executable, "-c", IMPORTS, " ".join([*installed, "torch"]), *modules]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.rest
def test_the_readme_shows_what_it_gives(tmp_path):
    """By our system alone, which asks for no other reference's scores."""
    require_packages(STUDENTS)
    recipe = yaml.safe_load((ROOT / "recipes" / "demo.yaml").read_text(encoding="utf-8"))
    run = {"name": "demo", "systems": ["paraloom"], "training_sets": [], "embeddings": []}
    config = recipe | {"data": str(ROOT), "run": run, "train": {"test": None}}
    Pipeline(tmp_path, config).run()
    page = ROOT / "README.md"
    shown = [output for _, output in outputs.blocks(page)]
    printed = outputs.outputs(page, tmp_path)
    assert len(shown) == 2 and all(shown)
    assert all(map(outputs.same, shown, printed)), printed


def test_make_demo_runs_it_and_then_prints_twenty():
    planned = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "demo", "STS=sts", "REFERENCES=all"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "echo 'generate: {limit: null}' >.venv/references.yaml" in planned
    run = r"paraloom run --brief recipes/demo\.yaml \.venv/references\.yaml -- \\\s+--cores 2 "
    run += r"--config 'sts=\{data: \[sts\]\}'\n.*paraloom runs show demo --examples 20\n"
    assert re.search(run, planned)
