"""A rewriter that knows a few sentences: the small trained model, Czech in and English out."""

import threading
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests import oracles
from tests.unit.serving import serving
from workflow_scripts.apps.rewriter.app import Limits, Service, application
from workflow_scripts.apps.web.guard import LOOPBACK
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.raw import coders
from workflow_scripts.stages.rewrite.requests import Answer, Paraphrase
from workflow_scripts.stages.rewrite.rewriter import Rewriter


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    copy = oracles.small().copy_model(tmp_path_factory.mktemp("rewriter"))
    (copy / "metrics.json").write_text('{"direction": "forward"}')
    return copy


@pytest.fixture(scope="session")
def parts(folder):
    model = load_model(folder, "cpu")
    spm = folder / "source.model", folder / "reference.model"
    return model, *coders(model, folder, True, *spm)


class Letters:
    """An encoder: sentences with the same letters have the same meaning."""

    def encode(self, sentences):
        return np.array([[text.count(letter) for letter in "aeiounst"] for text in sentences])


@pytest.fixture(scope="session")
def rewriter(parts):
    return Rewriter(*parts, "en", encoder=Letters())


class Held:
    """Stands for a rewriter that does not answer before it may."""

    language, templates, has_meaning, inflects = "en", (), False, True
    settings = SimpleNamespace(beam_size=8)

    def __init__(self):
        self.may, self.batches, self.text = threading.Event(), [], "x"

    def plan(self, request):
        return SimpleNamespace(request=request, cost=1)

    def answers(self, plans):
        self.batches.append([plan.request.text for plan in plans])
        assert self.may.wait(20)
        return [Answer(plan.request, [Paraphrase(self.text, 0.5, None, 100.0)]) for plan in plans]


@pytest.fixture
def held():
    rewriter = Held()
    yield rewriter
    rewriter.may.set()


@contextmanager
def running(rewriter, limits=None, log=None, hosts=LOOPBACK):
    """Serve a rewriter at a free port; give its address."""
    app = application(Service(rewriter, limits or Limits(), "A & B", log), hosts)
    with serving(app) as url:
        yield url


@pytest.fixture(scope="session")
def serve():
    return running


@pytest.fixture(scope="session")
def address(rewriter):
    with running(rewriter) as url:
        yield url
