"""Fixtures of all tests."""

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data, from PARALOOM_DATA; a test that needs it skips where it is absent.

    With PARALOOM_REQUIRE_DATA=1 an absent folder is a failure.
    """
    folder = Path(os.environ.get("PARALOOM_DATA", ROOT.parent / "shared" / "data")).resolve()
    if not folder.is_dir():
        message = f"no real data in {folder}: set PARALOOM_DATA to its folder"
        if os.environ.get("PARALOOM_REQUIRE_DATA") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session")
def bitext(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the micro bitext."""
    return micro.write_bitext(tmp_path_factory.mktemp("bitext") / "data")


@pytest.fixture(scope="session")
def finished(bitext: Path, tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """A finished micro run, never to be changed.

    The tests that use it are of the `xdist_group` of this name, so that it happens once.
    """
    pipeline = Pipeline(tmp_path_factory.mktemp("finished") / "work", micro.config(bitext))
    pipeline.run()
    return pipeline


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[Pipeline], Pipeline]:
    """Make copies of a run in the folder of the test."""
    numbers = itertools.count()
    return lambda pipeline: pipeline.copy(tmp_path / f"copy{next(numbers)}")
