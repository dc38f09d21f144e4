"""Fixtures of all tests."""

import fcntl
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests import oracles
from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from tests.processes import none_left

ROOT = Path(__file__).resolve().parents[1]

# A deadline on the wall tells how busy the machine is.
hypothesis.settings.register_profile("paraloom", deadline=None)
hypothesis.settings.load_profile("paraloom")


@pytest.fixture(autouse=True)
def no_process_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test of whole runs leaves no process behind, on a cluster either."""
    if request.node.get_closest_marker("e2e") is None:
        yield
        return
    with none_left():
        yield


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


@pytest.fixture(scope="session", params=["small", "large"])
def nmt_oracle(request: pytest.FixtureRequest) -> oracles.Oracle:
    """A trained model with Sockeye's results: a small one here, a large one in the real data."""
    if request.param == "small":
        return oracles.small()
    return oracles.large(request.getfixturevalue("data_dir"))


@pytest.fixture(scope="session")
def once(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[str, Callable[[Path], None]], Path]:
    """Make a folder once for all workers of pytest-xdist, which then share it."""
    root = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        root = root.parent

    def folder(name: str, make: Callable[[Path], None]) -> Path:
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (root / name).exists():
                make(root / f"{name}.unfinished")
                (root / f"{name}.unfinished").rename(root / name)
        return root / name

    return folder


@pytest.fixture(scope="session")
def bitext(once) -> Path:
    """The folder of the micro bitext."""
    return once("bitext", micro.write_bitext)


@pytest.fixture(scope="session")
def finished(bitext: Path, once) -> Pipeline:
    """A finished micro run, never to be changed."""
    config = micro.config(bitext)
    return Pipeline(once("finished", lambda folder: Pipeline(folder, config).run()), config)


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[Pipeline], Pipeline]:
    """Make copies of a run in the folder of the test."""
    numbers = itertools.count()
    return lambda pipeline: pipeline.copy(tmp_path / f"copy{next(numbers)}")
