"""Recipes: real ones, damaged, and YAML made of what YAML is made of."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.cases import damaged, damages, file, fuzz, outcome
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan import resolve as resolving
from workflow_scripts.stages.catalogue import validate

ROOT = Path(__file__).resolve().parents[2]
RECIPES = [path.read_bytes()[:4000] for path in sorted(ROOT.glob("recipes/*.yaml"))]
DEFAULTS = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
_parts = st.sampled_from(
    [
        *("run: ", "corpora: ", "shards: {early: 4, late: 2}\n", "seed: ", "release: ", "models: "),
        *("&a ", "*a", "- ", "? ", ": ", "{", "}", "[", "]", ", ", "\n", "\n  ", "|\n", ">-\n"),
        *("!!int ", "!!float ", "!!set ", "!!omap ", "!!binary ", "!!timestamp ", "!!python/x "),
        *("1", "0x", "1e3", ".nan", ".inf", "2024-13-45", "~", "yes", "'", '"', "#", "%", "---\n"),
        *("<<: ", "\t", "\0", "ž", "\ud800", "{a: 1}", "[1, 2]", "a: 1\n", "1_000", "12:30:45"),
    ]
)
_made = st.lists(_parts, max_size=14).map(
    lambda parts: "".join(parts).encode("utf-8", "surrogatepass")
)
_recipes = st.one_of(
    _made, st.tuples(st.sampled_from(RECIPES), damages).map(lambda both: damaged(*both))
)


@pytest.fixture(scope="module", autouse=True)
def quick_defaults(tmp_path_factory):
    """The defaults as JSON, which loads a hundred times faster."""
    path = tmp_path_factory.mktemp("defaults") / "config.yaml"
    path.write_text(json.dumps(DEFAULTS), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolving, "DEFAULTS", path)
        yield


def merged(config, changes):
    for key, value in changes.items():
        below = config.get(key)
        if isinstance(value, dict):
            config[key] = merged(dict(below) if isinstance(below, dict) else {}, value)
        else:
            config[key] = value
    return config


@fuzz(0.4)
@given(_recipes)
def test_recipes(tmp_path_factory, content):
    with file(tmp_path_factory.getbasetemp(), "mine.yaml", content) as path:
        config = outcome(path, lambda: resolving.resolve([path], []))
    if config is None:
        return
    try:
        loaded = json.loads(content)
    except ValueError:
        loaded = yaml.safe_load(content)
    assert repr(config) == repr(merged(dict(DEFAULTS), loaded)) or config == merged(
        dict(DEFAULTS), loaded
    )
    try:
        validate(config)
    except InputError as error:
        assert str(error).startswith("configuration: ")
