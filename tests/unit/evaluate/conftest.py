import pytest

from tests.unit import made_up_run
from workflow_scripts.stages.subword.segmenter import Segmenter


@pytest.fixture(scope="session")
def segmenter_path(tmp_path_factory):
    return made_up_run.segmenter(tmp_path_factory.mktemp("segmenter") / "reference.model")


@pytest.fixture(scope="session")
def segmenter(segmenter_path):
    return Segmenter(segmenter_path)
