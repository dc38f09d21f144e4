"""Every recipe is planned as its first lines say, on files of the right names and nothing in them.

Planning names what is missing one by one; each is made, until all of the run's folders are known.
"""

import re
from pathlib import Path

import pytest

from tests import stanza_package
from tests.commands import require_right_waits
from tests.configs import ROOT
from tests.unit.lexicon.wordnet_files import write_wordnet
from tests.unit.transfer.conftest import write_senteval
from workflow_scripts.commands.estimate.text_speed import select_among
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.catalogue import run_layout, validate

RECIPES = sorted(path.stem for path in ROOT.glob("recipes/*.yaml"))
MISSING = re.compile(r"(\S+): (?:No such file or directory|no such file or folder)")
# In the folder of the test.
WORDNET = Path("wordnet")
_LINES = "3.5\ta dog\ta cat\n"


def laid(recipe):
    """Return the recipes of the command that its first lines show, in their order."""
    lines = (ROOT / "recipes" / f"{recipe}.yaml").read_text("utf-8").splitlines()
    text = " ".join(line[1:].strip().rstrip("\\") for line in lines if line.startswith("#"))
    shown = re.findall(r"--configfile ((?:recipes/\S+\.yaml *)+)", text)
    below = re.findall(r"Laid over (recipes/\S+\.yaml)", text)
    own = f"recipes/{recipe}.yaml"
    return next((each.split() for each in shown if own in each.split()), [*below, own])


def made_ready(config, name=None):
    """Put a package of stanza that is at hand, and some pins, where they are still to be had."""
    for key, value in config.items():
        if isinstance(value, dict):
            made_ready(value, key)
    if "source" in config and "target" in config and "folder" in config:
        for file in ("config.json", "tokenizer.json", "model.safetensors"):
            make(Path(config["folder"], file))
    if name in ("tagger", "syntax") and "stanza" in str(config.get("folder")):
        config.update(folder=str(stanza_package.FOLDER), package=stanza_package.PACKAGE)
    if isinstance(config.get("wordnet"), str):
        config["wordnet"] = str(WORDNET.resolve())
    if name == "czeng" and "url" in config:
        config["sha256"] = [f"{number:064x}" for number in range(len(config["url"]))]


def make(path):
    """Make the file or folder of data that a message names; return whether it was missing."""
    if path.exists():
        return False
    file = path if path.suffix else path / "graded.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_LINES, encoding="utf-8")
    return True


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipe_is_planned(recipe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = resolve([ROOT / path for path in laid(recipe)], ["data=data"])
    validate(config)
    made_ready(config)
    write_wordnet(WORDNET)
    write_senteval(Path("data/senteval"))
    while True:
        try:
            layout = run_layout(config)
            folders = [layout.folder(*unit) for unit in layout.units()]
            break
        except InputError as error:
            missing = [Path(name) for name in MISSING.findall(str(error))]
            if not missing or not all(make(path) for path in missing):
                raise
    assert len(set(folders)) == len(folders) > 10
    stages = {unit[0] for unit in layout.units()}
    if config["run"]["systems"]:
        assert stages > {"corpus", "clean", "train", "generate", "select"}
    else:
        assert stages == {"filter", "embed", "release"}
    assert all(layout.records(*unit) for unit in layout.units())
    # `estimate` tries the selection of each system on made-up candidates.
    for system in config["run"]["systems"]:
        select_among(["a dog", "a cat"], layout.settings(("select", system)), str.split)
    require_right_waits(layout)
