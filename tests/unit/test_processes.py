import subprocess
import time

import psutil
import pytest

from tests.processes import MARK, none_left

pytestmark = pytest.mark.slow


def test_process_that_left_its_group_and_its_parent_is_found_and_killed():
    with pytest.raises(AssertionError, match="sleep 1000"), none_left(patience=0.0):
        started = subprocess.run(
            ["bash", "-c", "setsid sleep 1000 >/dev/null & echo $!"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        # Until bash's child is what it is to become. A process gets its name a moment before its
        # environment, and is not found in between.
        child = psutil.Process(int(started.stdout))
        while child.name() != "sleep" or MARK not in child.environ():
            time.sleep(0.01)
    pid = int(started.stdout)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_process_that_ends_meanwhile_is_none():
    with none_left():
        subprocess.Popen(["sleep", "1"]).poll()
