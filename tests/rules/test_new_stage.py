"""What a new stage touches: a copy of the workflow gets one that reads the release, and runs it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.e2e.pipeline import ROOT, Pipeline, environment
from workflow_scripts.stages.catalogue import STAGES

pytestmark = pytest.mark.e2e

TOY = ROOT / "tests" / "toy_stage"
COPIED = ("Snakefile", "config.yaml", "rules", "envs", "workflow_scripts", "tests")
COPIED += ("pyproject.toml",)
NEW = {
    "stage.py": "workflow_scripts/stages/toy/stage.py",
    "shard.py": "workflow_scripts/stages/toy/shard.py",
    "toy.smk": "rules/toy.smk",
}
SCHEMA = {
    "type": "object",
    "description": "Words of released references.",
    "additionalProperties": False,
    "properties": {
        "min_words": {"type": "integer", "description": "Shorter references are left out."}
    },
    "required": ["min_words"],
}


def insert(path: Path, before: str, text: str) -> None:
    """Insert a text before the one place where another stands."""
    content = path.read_text(encoding="utf-8")
    assert content.count(before) == 1, (path, before)
    path.write_text(content.replace(before, text + before), encoding="utf-8")


def add_toy(workflow: Path) -> None:
    """Add the stage as docs/architecture.md says."""
    toy = workflow / "workflow_scripts" / "stages" / "toy"
    toy.mkdir()
    (toy / "__init__.py").write_text('"""A toy."""\n', encoding="utf-8")
    for name, target in NEW.items():
        shutil.copy(TOY / name, workflow / target)
    insert(workflow / "Snakefile", 'include: "rules/manifest.smk"', 'include: "rules/toy.smk"\n')
    stages = workflow / "workflow_scripts" / "stages" / "catalogue.py"
    insert(stages, "STAGES: tuple", "from workflow_scripts.stages.toy.stage import Toy\n\n")
    insert(stages, ")\n\n\ndef validate", "    Toy,\n")
    insert(workflow / "config.yaml", "\nrelease:\n", "\ntoy: {min_words: 1}\n")
    path = workflow / "workflow_scripts" / "plan" / "config.schema.yaml"
    schema = yaml.safe_load(path.read_text(encoding="utf-8"))
    schema["properties"]["toy"] = SCHEMA
    schema["required"].append("toy")
    path.write_text(yaml.safe_dump(schema, sort_keys=False), encoding="utf-8")


@pytest.fixture(scope="module")
def workflow(tmp_path_factory) -> Path:
    """A copy of the workflow with the toy stage."""
    folder = tmp_path_factory.mktemp("workflow")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    add_toy(folder)
    return folder


@pytest.fixture(scope="module")
def toy_run(finished, workflow, tmp_path_factory) -> Pipeline:
    """A finished run, on which the new stage was run with the other workflow."""
    pipeline = finished.copy(tmp_path_factory.mktemp("toy") / "work")
    pipeline.snakefile = workflow / "Snakefile"
    planned = pipeline.planned("toy")
    assert planned == {"toy_shard": 2, "manifest": 1, "toy": 1}
    pipeline.run("toy")
    return pipeline


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for name in COPIED
        for path in [folder / name, *(folder / name).rglob("*")]
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_a_new_stage_touches_few_files_and_none_of_another_stage(workflow):
    before, after = files_of(ROOT), files_of(workflow)
    touched = {name for name in before if after[name] != before[name]}
    new = after.keys() - before.keys()
    assert new == {*NEW.values(), "workflow_scripts/stages/toy/__init__.py"}
    assert touched == {
        *("Snakefile", "config.yaml"),
        *("workflow_scripts/stages/catalogue.py", "workflow_scripts/plan/config.schema.yaml"),
    }
    others = {f"workflow_scripts/stages/{stage.name}/" for stage in STAGES}
    others |= {f"rules/{stage.name}.smk" for stage in STAGES}
    assert not [name for name in touched if name.startswith(tuple(others))]


@pytest.mark.rest
def test_the_new_stage_reads_the_release_and_writes_one_file_a_shard(toy_run):
    folder = toy_run.unit("toy")
    lines = [(folder / f"000{shard}.tsv").read_text("utf-8").splitlines() for shard in range(2)]
    assert all(lines)
    manifest = toy_run.manifest("toy")
    assert manifest["rows_out"] == len(lines[0]) + len(lines[1])
    assert [name.partition("/")[0] for name in manifest["upstream"]] == ["release"]
    assert manifest["config"] == {"min_words": 1, "systems": ["micro"]}


@pytest.mark.rest
def test_nothing_else_is_made_again_and_commands_know_the_stage(toy_run, workflow):
    assert not toy_run.planned("toy")
    assert not toy_run.planned()
    status = subprocess.run(
        [sys.executable, "-m", "workflow_scripts.commands.status", "--run", "runs/micro"],
        cwd=toy_run.folder,
        env=environment() | {"PYTHONPATH": str(workflow)},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [line for line in status.stdout.splitlines() if line.startswith("toy ")]
    assert "100%" in line


@pytest.mark.rest
def test_its_rules_are_written_as_all_rules_are(workflow):
    structure = workflow / "tests" / "rules" / "test_structure.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "--rootdir", str(workflow), str(structure)],
        cwd=workflow,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "[toy_shard] PASSED" in done.stdout
