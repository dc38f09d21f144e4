"""What recipes take from config.yaml: its catalogues, and nothing of the text of its own run."""

import pytest
import yaml

from tests.configs import ROOT
from workflow_scripts.core import selection
from workflow_scripts.core.resolve import resolve

RECIPES = sorted(ROOT.glob("recipes/*.yaml"))
DEMO = resolve([], [])


def written(recipe):
    return yaml.safe_load(recipe.read_text(encoding="utf-8"))


def of_their_own():
    """The recipes with corpora; the others are laid over them."""
    return [path for path in RECIPES if "corpora" in written(path).get("run", {})]


def test_of_those_with_corpora_the_testbed_is_one():
    assert ROOT / "recipes" / "testbed.yaml" in of_their_own()


@pytest.mark.parametrize("recipe", of_their_own(), ids=lambda path: path.stem)
def test_recipe_has_nothing_of_the_demos_text(recipe):
    config, said = resolve([recipe], []), written(recipe)
    assert {"languages", "run", "corpora", "train", "generate"} <= said.keys()
    assert config["run"]["name"] != DEMO["run"]["name"]
    assert not {*selection.corpora(config)} & {*selection.corpora(DEMO)}
    assert not {*config["run"]["systems"]} & {*DEMO["run"]["systems"]}
    for role in selection.roles(config):
        assert role in said["train"]["models"]
    limit = said["generate"]["limit"]
    assert limit is None or isinstance(limit, int) or {*limit} <= {*config["run"]["corpora"]}
