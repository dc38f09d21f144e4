"""The package of the tests was made by the same command with more steps."""

import json

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.syntax.parser import Parser
from workflow_scripts.stages.syntax.parser_files import parser_files
from workflow_scripts.stages.syntax.train import main
from workflow_scripts.testbed.generate import items

SETTINGS = {"size": 32, "tokenizer-steps": 100, "tagger-steps": 80}
SETTINGS |= {"epochs": 3, "epoch-trees": 500}


def write_trees(path, first, count):
    lines = [item.tree for item in items(seed=1, first=first, count=count)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def arguments(folder, **options):
    train = write_trees(folder / "train.mrg", 0, 200)
    dev = write_trees(folder / "dev.mrg", 200_000, 20)
    words = ["--train", train, "--dev", dev, "--output", str(folder / "models" / "small")]
    for name, value in {**SETTINGS, **options}.items():
        words += [f"--{name}", str(value)]
    return words


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a package that was trained in a few seconds."""
    folder = tmp_path_factory.mktemp("train")
    main(arguments(folder))
    return folder / "models" / "small"


@pytest.mark.rest
@pytest.mark.slow
def test_folder_is_a_package_that_parses(trained, capsys):
    assert sorted(path.name for path in trained.parent.iterdir()) == ["small"]
    assert set(parser_files(str(trained), "en", "default")) == {
        f"{name}/trees" for name in ("tokenize", "pos", "constituency", "pretrain")
    }
    texts = [item.reference for item in items(seed=1, first=400_000, count=20)]
    trees = Parser(trained, "en", "default", "cpu").parse(texts)
    # It has learned something: testbed sentences are mostly statements.
    assert sum(tree.startswith("(ROOT (S ") for tree in trees) > 10


@pytest.mark.slow
def test_paths_of_this_machine_are_not_in_the_models(trained):
    for path in trained.rglob("*.pt"):
        assert str(trained.parent.parent).encode() not in path.read_bytes()


@pytest.mark.slow
def test_own_vectors(tmp_path, capsys):
    words = sorted({word for item in items(1, 0, 200) for word in item.reference.split()})
    lines = [f"{word} {' '.join(['0.1'] * 7)} {number / 100}" for number, word in enumerate(words)]
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("\n".join(lines), encoding="utf-8")
    few = {"tokenizer-steps": 5, "tagger-steps": 5, "epochs": 1, "epoch-trees": 20}
    main(arguments(tmp_path, vectors=vectors, **few))
    scores = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert scores["sentences"] == 20
    assert scores.keys() == {"sentences", "f1", "words", "exact", "top"}


@pytest.mark.slow
def test_an_existing_folder_stays(trained):
    with pytest.raises(InputError, match="is there already"):
        main(arguments(trained.parent.parent))


def test_files_that_lack_something_are_told(tmp_path):
    options = arguments(tmp_path)
    (tmp_path / "dev.mrg").write_text("")
    with pytest.raises(InputError, match="no trees"):
        main(options)
    with pytest.raises(InputError, match=r"none\.txt: No such file or directory"):
        main(arguments(tmp_path, vectors=tmp_path / "none.txt"))
