"""Whatever stands in a configuration: it is valid, or an InputError says why not."""

import copy
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.configs import run_on_testbed
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.stages.catalogue import run_layout, validate

CONFIG = run_on_testbed()

numbers = st.one_of(st.integers(), st.floats(), st.sampled_from([-1, 0, 1, 2**63, 10**400]))
texts = st.one_of(
    # With lone surrogates, as JSON can write them.
    st.text(max_size=12),
    st.text(st.characters(), max_size=3),
    st.sampled_from(["testbed", "forward", "../..", "a\0b", "\ud800", "$(x)", "{x}", "en\n", ""]),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(texts, st.integers(), st.booleans(), st.none()), inner, max_size=3
        ),
    ),
    max_leaves=6,
)


def paths(node: Any, path: tuple = ()) -> list[tuple]:
    """Return the path of every key and list item."""
    items = (
        node.items() if isinstance(node, dict) else enumerate(node if type(node) is list else ())
    )
    return [each for key, value in items for each in [(*path, key), *paths(value, (*path, key))]]


# Each part of the configuration as often as another, and not each of the many keys of systems.
PARTS = {part: [path for path in paths(CONFIG) if path[0] == part] for part in CONFIG}
places = st.sampled_from(sorted(PARTS)).flatmap(lambda part: st.sampled_from(PARTS[part]))
changes = st.tuples(places, st.sampled_from(["set", "delete", "add"]), texts, values)


def changed(edits: list[tuple]) -> dict[str, Any]:
    """Return the default configuration after some edits; those whose place is gone do nothing."""
    config = copy.deepcopy(CONFIG)
    for path, action, name, value in edits:
        node = config
        for key in path[:-1]:
            node = node[key] if isinstance(node, dict) and key in node else None
        if not isinstance(node, dict):
            continue
        if action == "delete":
            node.pop(path[-1], None)
        else:
            node[name if action == "add" else path[-1]] = value
    return config


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(values)
def test_anything_in_place_of_a_configuration_is_refused(value):
    with pytest.raises(InputError):
        validate(value)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(changes, min_size=1, max_size=3))
def test_layout_of_a_changed_configuration_or_why_there_is_none(tmp_path_factory, edits):
    config = changed(edits)
    if config.get("results") == CONFIG["results"]:
        config["results"] = str(tmp_path_factory.getbasetemp() / "results")
    try:
        layout = run_layout(config)
    except InputError as error:
        str(error).encode("utf-8", "surrogatepass")
        return
    for unit in layout.units():
        assert layout.folder(*unit)
        canonical(layout.description(unit)).encode("utf-8")


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "\ud800", "", "."])
def test_path_that_cannot_be_is_named_with_its_key(path):
    config = copy.deepcopy(CONFIG)
    config["corpora"]["testbed"] = {"source": path, "reference": path}
    with pytest.raises(InputError, match=r"corpora\.testbed"):
        run_layout(config)


@pytest.mark.parametrize("key", ["source", "tsv"])
@pytest.mark.parametrize("name", ["a{b}", "{corpus}.cs", "a}"])
def test_name_that_snakemake_would_read_as_a_wildcard_is_refused(key, name, tmp_path):
    config = copy.deepcopy(CONFIG)
    block = {"source": name, "reference": "a"}
    if key == "tsv":
        block = {"tsv": [name], "columns": {"source": 0, "reference": 1}}
    config |= {"results": str(tmp_path)}
    config["corpora"]["testbed"] = block
    with pytest.raises(InputError, match=rf"corpora\.testbed\.{key}: .*takes braces for wildcards"):
        run_layout(config)
    with pytest.raises(InputError, match=rf"results: {re.escape(name)}: Snakemake takes braces"):
        validate({**CONFIG, "results": name})


def test_keys_and_numbers_that_json_cannot_hold_are_named():
    config = copy.deepcopy(CONFIG)
    config["corpora"][2024] = {}
    config["clean"]["max_ratio"] = float("nan")
    config["release"]["title"] = "a\0b"
    with pytest.raises(InputError) as caught:
        validate(config)
    for problem in (
        "corpora: key 2024 is no text",
        "clean.max_ratio: nan is not a finite number",
        "release.title: 'a\\x00b' holds NUL",
    ):
        assert problem in str(caught.value)
