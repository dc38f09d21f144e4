"""The schema of the configuration says everything once: keys, defaults, what absence means."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.options import MARKED, Node, alternatives, properties_at, resolved
from workflow_scripts.plan.schema import defaults, filled, schema

ROOT = Path(__file__).resolve().parents[3]
DEFINITIONS = schema()["$defs"]


def nodes(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    """Yield every node of the schema that can be reached, with its path in a configuration."""
    node = resolved(node)
    yield path, node
    below = [(f"{path}.{key}", each) for key, each in node.get("properties", {}).items()]
    if isinstance(node.get("additionalProperties"), dict):
        below.append((f"{path}.*", node["additionalProperties"]))
    if "items" in node:
        below.append((f"{path}[]", node["items"]))
    below += [(path, each) for each in alternatives(node)]
    for each in below:
        yield from nodes(each[1], each[0])


NODES = list(nodes(schema()))


@pytest.mark.slow
def test_schema_is_draft_2020_12_and_every_definition_is_used():
    Draft202012Validator.check_schema(schema())
    used = set(re.findall(r"#/\$defs/(\w+)", str(schema())))
    assert used == set(DEFINITIONS)


def test_no_word_of_yaml_is_taken_for_another_value():
    """`no`, `on` and `yes` would be truth values, `1e5` a text, a date a date."""

    def values(node):
        if isinstance(node, dict):
            assert all(isinstance(key, str) for key in node)
        if isinstance(node, (dict, list)):
            for each in node.values() if isinstance(node, dict) else node:
                yield from values(each)
        else:
            yield node

    assert {type(each) for each in values(schema())} <= {str, int, float, bool, type(None)}
    truths = [
        path for path, node in NODES if any(isinstance(x, bool) for x in node.get("enum", []))
    ]
    assert truths == [".systems.*.constraints.variants.*.inflect"]


def test_every_key_is_described():
    for path, node in NODES:
        for key, value in node.get("properties", {}).items():
            assert resolved(value).get("description"), f"{path}.{key} has no description"


def test_no_block_takes_any_key():
    for path, node in NODES:
        if "properties" in node and node.get("additionalProperties") is not False:
            # Then each of its methods has keys of its own.
            branches = {
                value: resolved(each["then"])
                for each in node["allOf"]
                for value in [each["if"]["properties"]["method"]["const"]]
            }
            assert set(branches) == set(node["properties"]["method"]["enum"]), path
            for branch in branches.values():
                assert branch["additionalProperties"] is False, path


def optional_keys(node: Node) -> list[str]:
    """Return the keys of a block that can be missing, whatever the block is."""
    if node.get("maxProperties") == 1:  # one of them is needed
        return []
    needed = set(node.get("required", []))
    if "then" in node and "else" in node:  # each of the two needs its own
        needed |= {*node["then"].get("required", []), *node["else"].get("required", [])}
    return [key for key in node.get("properties", {}) if key not in needed and key != "method"]


def test_every_optional_key_has_a_default_or_says_what_its_absence_means():
    for path, node in NODES:
        for key in optional_keys(node):
            value = node["properties"][key]
            told = "left out: " in resolved(value)["description"]
            assert ("default" in value) != told, f"{path}.{key}"


def test_every_default_is_of_an_optional_key_and_valid_and_within_reach_of_filled():
    count = 0
    for path, node in NODES:
        for key, value in node.get("properties", {}).items():
            if "default" in value:
                count += 1
                assert key not in node.get("required", []), f"{path}.{key}"
                Draft202012Validator({**value, "$defs": DEFINITIONS}).validate(value["default"])
                reached = (each.get("properties") for each in DEFINITIONS.values())
                assert any(node["properties"] is each for each in reached), f"{path}.{key}"
    assert count >= 40


def test_a_block_keeps_what_it_says_and_gets_what_it_leaves_out():
    block = {"order": 2, "case": False}
    assert filled(block, "random_sets") == {"order": 2, "case": False}
    assert block == {"order": 2, "case": False}
    assert filled({"heads": 2}, "model") == {
        **{"heads": 2, "patience": None, "update_interval": 1, "amp": False, "matmul": "fp32"}
    }
    assert filled({"max_tokens": None}, "training_set")["max_tokens"] is None


def test_a_default_that_is_changed_by_its_reader_stays_as_it_is():
    defaults("embedding")["seeds"].append(2)
    filled({}, "training_set")["bounds"]["sum"] = [0, 1]
    assert defaults("embedding")["seeds"] == [1]
    assert filled({}, "training_set")["bounds"] == {}


# --- no second copy ----------------------------------------------------------------------------

KNOWN = [
    {key: each.get("default", ...) for key, each in node["properties"].items()}
    for node in DEFINITIONS.values()
    if any("default" in each for each in node.get("properties", {}).values())
]


def literal(node: ast.expr) -> Any:
    """Return the value of a literal, and an ellipsis for anything else."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return Ellipsis


def equal(pairs: dict[Any, Any]) -> int:
    """Return how many pairs are defaults of one kind of block, all keys being keys of it."""
    counts = [0]
    for known in KNOWN:
        if pairs.keys() <= known.keys():
            same = (known[key] == value is not Ellipsis for key, value in pairs.items())
            counts.append(sum(same))
    return max(counts)


def copies(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of a module that give a key of the schema its default once more."""
    overruled = {id(each.left) for each in ast.walk(tree) if isinstance(each, ast.BinOp)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) == 2:
            asked = getattr(node.func, "attr", None) in ("get", "setdefault")
            key, value = map(literal, node.args)
            if asked and isinstance(key, str) and equal({key: value}):
                yield node.lineno
        elif isinstance(node, ast.Dict):
            pairs = [
                (literal(key), literal(value))
                for key, value in zip(node.keys, node.values, strict=True)
                if key is not None
            ]
            # One alone may be anything; where something can overrule it, it is a default.
            alone = None not in node.keys and id(node) not in overruled
            if all(isinstance(key, str) for key, _ in pairs) and equal(dict(pairs)) > alone:
                yield node.lineno


@pytest.mark.parametrize(
    "code",
    [
        "x = search.get('nbest', 1)",
        "x = {'amp': False, 'matmul': 'fp32'}",
        "x = {'first': 0, **block}",
        "x = {'temperature': 1.0} | search",
    ],
)
def test_a_second_copy_would_be_seen(code):
    assert list(copies(ast.parse(code))) == [1]


@pytest.mark.slow
def test_no_module_holds_a_second_copy_of_a_default():
    found = []
    for file in sorted((ROOT / "workflow_scripts").rglob("*.py")):
        lines = copies(ast.parse(file.read_text(encoding="utf-8")))
        found += [f"{file.relative_to(ROOT)}:{line}" for line in lines]
    assert found == []


# --- tables of the pages -----------------------------------------------------------------------

TABLE_HEAD = "| key | default | meaning |"


def tables() -> Iterator[tuple[str, list[list[str]]]]:
    """Yield every table of docs that tests.options does not make: its heading's path, its rows."""
    for page in sorted((ROOT / "docs").glob("*.md")):
        path = ""
        lines = iter(MARKED.sub("", page.read_text(encoding="utf-8")).splitlines())
        for line in lines:
            if line.startswith("#"):
                path = "".join(re.findall(r"\(`(.*)`\)$", line))
            if line == TABLE_HEAD:
                assert next(lines) == "|---|---|---|"
                rows = []
                while (row := next(lines, "")).startswith("|"):
                    rows.append([cell.strip() for cell in row.strip("|").split("|")])
                yield f"{page.name} {path}", rows


TABLES = dict(tables())


def test_the_pages_have_their_tables():
    assert set(TABLES) == {
        "corpus.md corpora.<name>",
        "generate.md systems.<name>.constraints",
        "generate.md systems.<name>.search",
        "train.md models.<name>",
    }


@pytest.mark.parametrize("table", TABLES)
def test_defaults_of_a_page_are_those_of_the_schema(table):
    known = properties_at(table.split()[1].replace("<name>", "*"))
    told = set()
    for keys, cell, _ in TABLES[table]:
        names = [each.partition(":")[0] for each in re.findall(r"`([^`]+)`", keys)]
        cells = cell.split(",") if len(names) > 1 else [cell]  # one default may be a list
        values = [each.strip("` ") for each in cells] if cell else [""] * len(names)
        for name, value in zip(names, values, strict=True):
            told.add(name)
            if "default" in known[name]:
                assert yaml.safe_load(value) == known[name]["default"], name
            elif value:
                assert f"left out: {value}" in resolved(known[name])["description"], name
    assert told >= {name for name, each in known.items() if "default" in each}
    assert told <= set(known)


def test_descriptions_leave_the_default_to_its_key():
    for path, node in NODES:
        assert "default" not in node.get("description", ""), path
