"""What recipes take from config.yaml: its catalogues, and nothing of the text of its own run."""

import re

import pytest
import yaml

from tests.configs import ROOT
from workflow_scripts.plan import selection
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.catalogue import validate

RECIPES = sorted(ROOT.glob("recipes/*.yaml"))
DEMO = resolve([], [])


def written(recipe):
    return yaml.safe_load(recipe.read_text(encoding="utf-8"))


def of_their_own():
    """The recipes with corpora; the others, or what they leave out, come from one below them."""
    return [
        path
        for path in RECIPES
        if "corpora" in written(path).get("run", {})
        and ("languages" in written(path) or "Laid over recipes/" not in path.read_text("utf-8"))
    ]


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


def test_the_recipes_of_the_readme_are_valid(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```yaml\n(.*?)^```", readme)
    assert len(blocks) == 2
    for number, block in enumerate(blocks):
        (tmp_path / f"{number}.yaml").write_text(block, encoding="utf-8")
        validate(resolve([ROOT / "recipes/models/firefox.yaml", tmp_path / f"{number}.yaml"], []))


def test_the_bare_run_is_the_demo_on_finished_models():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "A bare `snakemake --cores 8 --use-conda` runs the demo's 1,700 sentences." in readme
    assert DEMO["run"]["name"] == "demo"
    assert selection.training_corpora(DEMO) == []
    assert DEMO["generate"]["limit"] is None
