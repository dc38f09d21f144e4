"""A key that stands twice is refused wherever YAML is read."""

import re
from pathlib import Path

import pytest
import yaml

from tests.configs import ROOT
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.yaml_text import parse_yaml, require_single_keys
from workflow_scripts.nmt.loaders.sockeye3 import read_tree
from workflow_scripts.plan.resolve import resolve

TWICE = "seed: 1\nsystems:\n  a: {best: 1}\nsystems:\n  b: {best: 2}\n"


@pytest.mark.parametrize(
    ("text", "key", "lines"),
    [
        (TWICE, "systems", (2, 4)),
        ("a:\n- {b: 1,\n   b: 2}\n", "b", (2, 3)),
        ('{"a": 1, "a": 1}', "a", (1, 1)),
        ("? [1, 2]\n: {3: x, 3: y}\n", "3", (2, 2)),
    ],
)
def test_key_and_both_lines_are_named(text, key, lines):
    told = f"f.yaml: the key '{key}' stands in line {lines[0]} and again in line {lines[1]} "
    with pytest.raises(InputError, match=re.escape(told)):
        parse_yaml(text, "f.yaml")


def test_what_merges_and_aliases_bring_is_no_second_key():
    text = "a: &a {x: 1}\nb: &b {<<: *a, x: 2}\nc: {<<: *b, x: 3}\nd: [*a, *a]\n"
    assert parse_yaml(text, "f.yaml") == yaml.safe_load(text)
    assert parse_yaml("", "f.yaml") is None


def test_recipe_and_model(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text(TWICE, encoding="utf-8")
    for read in (lambda file: resolve([file], []), read_tree, require_single_keys):
        with pytest.raises(InputError, match="the key 'systems' stands in line 2"):
            read(path)


def test_json_that_is_no_yaml(tmp_path):
    path = tmp_path / "f.json"
    for twice in ("", ', "a": 2'):
        path.write_text(f'{{"title": "\\ud83d\\ude00", "a": 1{twice}}}', encoding="utf-8")
        if not twice:
            assert resolve([path], [])["title"] == "\U0001f600"
    with pytest.raises(InputError, match="key 'a' stands there twice"):
        resolve([path], [])


@pytest.mark.parametrize("path", sorted(map(str, ROOT.glob("**/*.yaml"))))
def test_no_file_of_ours(path):
    require_single_keys(Path(path))
