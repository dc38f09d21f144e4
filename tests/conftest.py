"""Fixtures of all tests, the order in which they run, and the runs that they share."""

import fcntl
import itertools
import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests import oracles
from tests.e2e import micro, warm
from tests.e2e.pipeline import Pipeline, result_sums
from tests.processes import none_left
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.train.sockeye2 import find_interpreter

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


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Programs that the test starts hear Ctrl-C.

    A shell that starts the tests in the background lets them, and all below, ignore it.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
def mxnet_python() -> str:
    """The interpreter of envs/mxnet.yaml: PARALOOM_MXNET_PYTHON, or what `make test-packages` made.

    Without a Python 3.8 that makes none, and the tests are skipped; with PARALOOM_REQUIRE_MXNET=1
    they fail.
    """
    made = ROOT / ".venv" / "mxnet" / "bin" / "python"
    try:
        return find_interpreter(os.environ.get("PARALOOM_MXNET_PYTHON", str(made)))
    except InputError as error:
        message = f"{error}; for the tests set PARALOOM_MXNET_PYTHON to it"
        if made.exists() or os.environ.get("PARALOOM_REQUIRE_MXNET") == "1":
            pytest.fail(message)
        pytest.skip(message)


# Files of tests that take long, in the order in which they begin: what is long at the end keeps one
# worker while the others have nothing to do. All others come after them.
_FIRST = ("tests/slurm/", "tests/e2e/", "tests/rules/")
_SUMS = ".sums.json"
_CHANGED = pytest.StashKey[list[str]]()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file without tests of `make test-all` out of these: its imports take longer."""
    is_file = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    if not is_file or config.option.markexpr != "rest":
        return None
    return "mark.rest" not in collection_path.read_text(encoding="utf-8") or None


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Leave a text out of a test's name that is longer than a line: some have a megabyte."""
    return argname if isinstance(val, str | bytes) and len(val) > 100 else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long tests first, and keep a file of unit tests, which share fixtures, on one worker."""
    for item in items:
        file = item.nodeid.partition("::")[0]
        if not file.startswith(_FIRST):
            item.add_marker(pytest.mark.xdist_group(file))
    items.sort(key=lambda item: [not item.nodeid.startswith(folder) for folder in _FIRST])


def _shared(config: pytest.Config) -> Path:
    """Return the folder of the runs that tests share.

    Other parts of the tests find them there as well, where PARALOOM_TEST_RUNS names it.
    """
    root = config._tmp_path_factory.getbasetemp()
    own = root.parent if hasattr(config, "workerinput") else root
    return Path(os.environ.get("PARALOOM_TEST_RUNS", own))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let the session fail if a test changed a run that tests share."""
    if hasattr(session.config, "workerinput"):
        return
    root = _shared(session.config)
    changed = []
    for path in sorted(root.glob(f"*{_SUMS}")):
        before = json.loads(path.read_text(encoding="utf-8"))
        after = result_sums(root / path.name.removesuffix(_SUMS))
        names = before.items() ^ after.items()
        changed += sorted({f"{path.name.removesuffix(_SUMS)}/{name}" for name, _ in names})
    session.config.stash[_CHANGED] = changed
    if changed:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the files of shared runs that a test changed."""
    if changed := config.stash.get(_CHANGED, []):
        terminalreporter.section("files of a shared run that a test changed", red=True)
        terminalreporter.write_line("\n".join(changed))


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Iterator[None]:
    """Keep processes for the jobs of runs to start from, as long as the tests last."""
    if hasattr(config, "workerinput") or config.option.collectonly:
        return (yield)
    with tempfile.TemporaryDirectory() as folder, warm.serving(Path(folder)):
        return (yield)


@pytest.fixture(scope="session")
def once(pytestconfig: pytest.Config) -> Callable[[str, Callable[[Path], None]], Path]:
    """Make a folder once for all workers of pytest-xdist, which then share it.

    No test may change the results of a run in it: the end of the session looks.
    """
    root = _shared(pytestconfig)

    def folder(name: str, make: Callable[[Path], None]) -> Path:
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (root / name).exists():
                make(root / f"{name}.unfinished")
                sums = json.dumps(result_sums(root / f"{name}.unfinished"))
                (root / f"{name}{_SUMS}").write_text(sums, encoding="utf-8")
                (root / f"{name}.unfinished").rename(root / name)
        return root / name

    return folder


@pytest.fixture(scope="session")
def bitext(once) -> Path:
    """The folder of the micro bitext."""
    return once("bitext", micro.write_bitext)


@pytest.fixture(scope="session")
def finished(bitext: Path, once) -> Pipeline:
    """A finished micro run, never to be changed: for tests that change a run and make it again.

    Its jobs start as a user's do: kills come after shares of the times that they took.
    """
    config = micro.config(bitext)

    def make(folder: Path) -> None:
        pipeline = Pipeline(folder, config)
        pipeline.before = ["env"]  # so it does not fork
        pipeline.run()

    return Pipeline(once("finished", make), config)


@pytest.fixture(scope="session")
def whole(bitext: Path, once) -> Pipeline:
    """A finished run of all stages, never to be changed: the one run of `make test`."""
    from tests.unit.sentence_transformer import write_model  # imports for seconds

    config = micro.whole(bitext)

    def make(folder: Path) -> None:
        write_model(bitext / "encoder")
        Pipeline(folder, config).run()

    return Pipeline(once("whole", make), config)


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[Pipeline], Pipeline]:
    """Make copies of a run in the folder of the test, whose results are hard links.

    For tests that read, remove and replace files; `own_copy_of` is for those that change them.
    """
    numbers = itertools.count()
    return lambda pipeline: pipeline.copy(tmp_path / f"copy{next(numbers)}", linked=True)


@pytest.fixture
def own_copy_of(tmp_path: Path) -> Callable[[Pipeline], Pipeline]:
    """Make copies of a run in the folder of the test, to be damaged in place."""
    numbers = itertools.count()
    return lambda pipeline: pipeline.copy(tmp_path / f"own{next(numbers)}")
