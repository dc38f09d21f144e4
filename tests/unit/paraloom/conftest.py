"""One paraphraser of the students for all tests; without the package of the students they skip."""

import pytest

import paraloom
from tests import oracles
from tests.packages import STUDENTS, require_packages


@pytest.fixture(scope="session")
def paraphraser():
    require_packages(STUDENTS)
    return paraloom.Paraphraser("en")


@pytest.fixture(scope="session")
def exact():
    """A paraphraser in fp32, two texts in a batch."""
    require_packages(STUDENTS)
    search = paraloom.Search(sources=2, source_beam=3, beam=4, batch_rows=16)
    return paraloom.Paraphraser("en", search=search, precision="fp32")


@pytest.fixture(scope="session")
def small_model(tmp_path_factory):
    """The folder of the small trained model: Czech in, English out, of a dozen sentences."""
    folder = oracles.small().copy_model(tmp_path_factory.mktemp("model"))
    (folder / "metrics.json").write_text('{"direction": "forward"}')
    return folder
