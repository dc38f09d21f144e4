"""Models for the tests of the search core."""

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


@pytest.fixture(scope="session", params=["attention", "SSRU", "attention, lead", "SSRU, lead"])
def either(request: pytest.FixtureRequest, tiny: Model, student: Model) -> Model:
    """A model whose decoder keeps more the longer a prefix is, and one that keeps one vector.

    Both also with tokens that the decoder reads before <s>.
    """
    kind, _, lead = request.param.partition(", ")
    model = tiny if kind == "attention" else student
    return marked(model, Marks(lead=(7, EOS))) if lead else model


@pytest.fixture(scope="session")
def oracle_dir(nmt_oracle: Oracle) -> Path:
    """A trained model with Sockeye's results for it."""
    return nmt_oracle.folder


@pytest.fixture(scope="session")
def oracle(oracle_dir: Path) -> Model:
    return load_model(oracle_dir / "model", DEVICE)
