"""One finished micro run for all tests; a test that changes anything works on a copy."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline


@pytest.fixture(scope="session")
def bitext(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the micro bitext."""
    return micro.write_bitext(tmp_path_factory.mktemp("bitext") / "data")


@pytest.fixture(scope="session")
def finished(bitext: Path, tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """A finished run, never to be changed.

    The tests that use it are of one `xdist_group`, so that it happens once.
    """
    pipeline = Pipeline(tmp_path_factory.mktemp("finished") / "work", micro.config(bitext))
    pipeline.run()
    return pipeline


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[Pipeline], Pipeline]:
    """Make copies of a run in the folder of the test."""
    numbers = itertools.count()
    return lambda pipeline: pipeline.copy(tmp_path / f"copy{next(numbers)}")
