"""Models for the tests of the search core."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.oracles import Oracle
from tests.unit.nmt.folders import write_model
from tests.unit.nmt.marian_files import write_binary
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt import score_pairs, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.network import Marks
from workflow_scripts.nmt.vocabulary import EOS

# Where the models of the fixtures are; benchmarks/gpu.sh puts them on a GPU.
DEVICE = os.environ.get("PARALOOM_TEST_DEVICE", "cpu")


def marked(model: Model, marks: Marks) -> Model:
    """Return the model with these marks."""
    return Model(replace(model.network, marks=marks), model.source_vocab, model.target_vocab)


def refused(folder: Path, message: str) -> str:
    """Return why a model folder can't be loaded, in which `message` stands."""
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        load_model(folder, "cpu")
    return str(raised.value)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of 20 pieces whose outputs end after a few tokens."""
    return write_model(tmp_path_factory.mktemp("models") / "tiny", end_bias=1.0)


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path) -> Model:
    return load_model(tiny_folder, DEVICE)


@pytest.fixture(scope="session")
def student_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of Marian with 20 pieces, whose decoder has SSRUs."""
    folder = tmp_path_factory.mktemp("models") / "student"
    return write_binary(folder, {"dec-depth": 2}, end_bias=1.0)


@pytest.fixture(scope="session")
def student(student_folder: Path) -> Model:
    return load_model(student_folder, DEVICE)


@pytest.fixture(scope="session")
def short(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A random model that keeps to its shortlist."""
    from tests.unit.nmt.test_shortlist import write

    return load_model(write(tmp_path_factory.mktemp("models") / "short"), DEVICE, shortlist=True)


KINDS = {"attention": "tiny", "SSRU": "student"}
KINDS |= {f"{name}, lead": fixture for name, fixture in KINDS.items()}


def _model(request: pytest.FixtureRequest) -> Model:
    model = request.getfixturevalue((KINDS | {"shortlist": "short"})[request.param])
    return marked(model, Marks(lead=(7, EOS))) if "lead" in request.param else model


@pytest.fixture(scope="session", params=KINDS)
def either(request: pytest.FixtureRequest) -> Model:
    """A model whose decoder keeps more the longer a prefix is, and one that keeps one vector.

    Both also with tokens that the decoder reads before <s>.
    """
    return _model(request)


@pytest.fixture(scope="session", params=[*KINDS, "shortlist"])
def every(request: pytest.FixtureRequest) -> Model:
    """One of these, or one with a shortlist."""
    return _model(request)


@pytest.fixture(scope="session")
def oracle_dir(nmt_oracle: Oracle) -> Path:
    """A trained model with Sockeye's results for it."""
    return nmt_oracle.folder


@pytest.fixture(scope="session")
def oracle(oracle_dir: Path) -> Model:
    return load_model(oracle_dir / "model", DEVICE)


@pytest.fixture
def translated(tmp_path: Path):
    """What the command `translate` answers to lines, which may be objects."""

    def translated(folder: Path, lines: list, *options: object) -> list[dict]:
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        content = "".join(text + "\n" for text in texts).encode(errors="surrogateescape")
        (tmp_path / "in.jsonl").write_bytes(content)
        output = tmp_path / "out.jsonl"
        paths = ("--model", folder, "--input", tmp_path / "in.jsonl", "--output", output)
        translate.main([*map(str, paths), "--device", "cpu", *map(str, options)])
        return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]

    return translated


@pytest.fixture
def nlls(tmp_path: Path, capsys: pytest.CaptureFixture):
    """What the command `score_pairs` prints for lines of both sides."""

    def nlls(folder: Path, sources: list[str], targets: list[str], *options: object) -> list[float]:
        paths = ["--model", folder]
        for name, texts in (("source", sources), ("target", targets)):
            (tmp_path / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
            paths += [f"--{name}", tmp_path / name]
        capsys.readouterr()
        score_pairs.main([*map(str, paths), "--device", "cpu", *map(str, options)])
        return [float(line) for line in capsys.readouterr().out.splitlines()]

    return nlls
