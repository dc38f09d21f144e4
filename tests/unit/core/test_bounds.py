import copy

import pytest
import yaml

from workflow_scripts.core.config_size import MOST_DEPTH, MOST_NODES, require_bounded
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.resolve import DEFAULTS, resolve
from workflow_scripts.stages.catalogue import validate


def bomb(first, nest, levels=10):
    """Return YAML whose last value stands for ten to the power of `levels` values."""
    lines = [f"l0: &l0 {first}"]
    for level in range(1, levels):
        lines.append(f"l{level}: &l{level} {nest(f'*l{level - 1}')}")
    return "corpora:\n" + "".join(f"  {line}\n" for line in lines)


BOMBS = {
    "lists": bomb("[x, x]", lambda alias: f"[{', '.join([alias] * 10)}]"),
    "mappings": bomb(
        "{a: b}", lambda alias: f"{{{', '.join(f'k{index}: {alias}' for index in range(10))}}}"
    ),
    "texts": bomb("x" * 100_000, lambda alias: f"[{', '.join([alias] * 10)}]", 5),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_aliases_that_stand_for_millions_are_refused_by_name(tmp_path, name):
    path = tmp_path / "bomb.yaml"
    path.write_text(BOMBS[name], encoding="utf-8")
    with pytest.raises(InputError, match=r"bomb\.yaml: it stands for more than 5,000,000 values"):
        resolve([path], [])
    # As Snakemake hands it over.
    config = resolve([], [])
    config["corpora"] = yaml.safe_load(BOMBS[name])["corpora"]
    with pytest.raises(InputError, match="configuration: it stands for more than"):
        validate(config)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a: &a {b: *a}\n",
        "a: &a [*a, *a]\n",
        "a: " + "[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1),
        "a: " + "[" * 5000 + "]" * 5000,
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"a": ' + '{"a": ' * 100_000 + "1" + "}" * 100_001,
    ],
)
def test_too_many_levels_are_refused_by_name(tmp_path, text):
    path = tmp_path / "deep.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"deep\.yaml: .*levels"):
        resolve([path], [])


@pytest.mark.rest
@pytest.mark.slow
def test_large_configurations_pass():
    files = [f"/data/of/a/corpus/part-{number:06}.en.gz" for number in range(100_000)]
    config = copy.deepcopy(resolve([], []))
    config["corpora"]["large"] = {"source": files, "reference": files}
    require_bounded(config)
    require_bounded(list(range(MOST_NODES - 1)))
    with pytest.raises(InputError):
        require_bounded(list(range(MOST_NODES)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a: !!int ''\n",
        "a: !!float x\n",
        "a: !!bool x\n",
        "a: !!timestamp x\n",
        "a: 2024-13-45\n",
        "a: " + "9" * 5000,
        "a: !!binary x\n",
        "{[1]: 2}\n",
        "a: !!python/object/apply:os.getcwd []\n",
        "[1, 2]\n",
        "",
        "a: *b\n",
        "a: [\n",
        "\x00",
        "\udcff",
    ],
)
def test_what_is_no_configuration_is_refused_by_name(tmp_path, text):
    path = tmp_path / "wrong.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=r"^configuration: .*wrong\.yaml: "):
        resolve([path], [])


def test_aliases_as_people_use_them_pass(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("models: {a: &a {size: 8}, b: *a}\n", encoding="utf-8")
    assert resolve([path], [])["models"]["b"] == {"size": 8}
    assert DEFAULTS.is_file()
