"""Models of which no paraphrases can come are told of wherever the corpus is described."""

import json
from dataclasses import replace

import pytest
import yaml

from tests.unit import made_up_run as made
from workflow_scripts.stages.catalogue import STAGES
from workflow_scripts.stages.release import datasheet, summary
from workflow_scripts.stages.release.report import report

ROWS = {stage.name: stage.row for stage in STAGES if stage.released}
POOR = "the backward model has BLEU 0.00 on the test set"
ADVICE = "take other, finished models"


@pytest.fixture(scope="module")
def poor_run(run, tmp_path_factory):
    """The made-up run with a backward model that has learnt nothing."""
    root = tmp_path_factory.mktemp("poor")
    made.write_model(root, "backward", bleu=0.0)
    folder = made.write_manifest(root, "train", "backward", {}, parts=["model"])
    return replace(run, units={**run.units, "train/backward": folder})


def page(run):
    return report(run.finished(rows=ROWS), ["workflow_scripts.stages.release.sections:overview"])


def card(run, output):
    arguments = replace(run, config=run.system_config("beam")).arguments(systems=["beam"])
    datasheet.main([*arguments, "--rows", json.dumps(ROWS), "--output", str(output)])
    return output.read_text(encoding="utf-8")


def told(run, folder):
    """The summary of a run whose links lead to the made-up units."""
    links = {name.replace("/", "."): at for name, at in run.units.items()}
    folder.mkdir()
    for name, at in {**links, "release": folder / "made"}.items():
        (folder / name).symlink_to(at.resolve())
    (folder / "made").mkdir()
    (folder / "made" / "manifest.json").write_text("{}", encoding="utf-8")
    config = {"run": {"systems": [*run.systems], "embeddings": []}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return summary.describe(folder)


@pytest.mark.slow
def test_a_poor_model_is_told_of_everywhere(poor_run, tmp_path):
    for text in (page(poor_run), card(poor_run, tmp_path / "README.md")):
        assert POOR in text
        assert ADVICE in text
        assert "trust these paraphrases" in text
    lines = told(poor_run, tmp_path / "poor").splitlines()
    assert any(line.startswith(f"warning: {POOR}") for line in lines)
    assert any(line.startswith("warning: ") and ADVICE in line for line in lines)


@pytest.mark.slow
def test_usable_models_are_not(run, tmp_path):
    for text in (page(run), card(run, tmp_path / "README.md"), told(run, tmp_path / "good")):
        assert ADVICE not in text
        assert "trust these" not in text
        assert "warning" not in text
