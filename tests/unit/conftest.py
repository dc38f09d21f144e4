"""What tests of several rooms share: a browser, NFS's locks, a made-up run that is released."""

import errno
import fcntl
import os
import shutil

import pytest

from tests.configs import ROOT, run_on_testbed
from tests.packages import loaded


@pytest.fixture(scope="session")
def site_lists():
    """What puts the lists that are made of the code into pages of the site."""
    return loaded(ROOT / "docs" / "_site" / "lists.py")


@pytest.fixture(scope="module")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright here")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium here: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        # The tests may run as root, in a container.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def nfs(monkeypatch):
    """Locks of this process are refused as NFS refuses them, by how the file is open (flock(2))."""
    flock, unfit = fcntl.flock, {os.O_RDONLY: fcntl.LOCK_EX, os.O_WRONLY: fcntl.LOCK_SH}

    def flock_of_nfs(stream, how):
        if how & unfit.get(fcntl.fcntl(stream, fcntl.F_GETFL) & os.O_ACCMODE, 0):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(stream, how)

    monkeypatch.setattr(fcntl, "flock", flock_of_nfs)


@pytest.fixture(scope="session")
def made_up_run(tmp_path_factory):
    from tests.unit import made_up_run

    # The patch ends with the making of the run: other tests measure with the true checker.
    with pytest.MonkeyPatch.context() as monkeypatch:
        return made_up_run.build_run(tmp_path_factory.mktemp("run"), monkeypatch)


@pytest.fixture(scope="session")
def embedded(tmp_path_factory):
    """What a run with embeddings has besides: their test, and the training sets."""
    from tests.unit.embed import sts_example

    return sts_example.write_units(tmp_path_factory.mktemp("embedded"))


@pytest.fixture(scope="session")
def sentence_transformer(tmp_path_factory):
    """The folder of a small model of sentence-transformers."""
    from tests.unit.sentence_transformer import write_model

    return write_model(tmp_path_factory.mktemp("encoder"))


def release_of(**run):
    """The declaration of the release of the run on the testbed, whose `run` block is changed so."""
    from workflow_scripts.stages.catalogue import run_layout
    from workflow_scripts.stages.release.stage import Release

    config = run_on_testbed()
    config["run"].update(run)
    return run_layout(config).stage(Release)


@pytest.fixture(scope="session")
def release():
    """The declaration of the release of a run with embeddings."""
    return release_of()


@pytest.fixture(scope="session")
def release_without():
    """The declaration of the release of a run without them."""
    return release_of(embeddings=[])
