import subprocess
import sys

import pytest

from workflow_scripts.core.runs import remove_stale_locks

HOLD = """
import sys
from pathlib import Path
from workflow_scripts.core.runs import remove_stale_locks
alive = remove_stale_locks(Path(sys.argv[1]))
print("alive", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path):
    """A lock as Snakemake leaves it."""
    lock = tmp_path / "locks" / "0.output.lock"
    lock.parent.mkdir()
    lock.touch()
    return lock


def test_locks_of_the_dead_go(tmp_path, lock):
    remove_stale_locks(tmp_path).close()
    assert not lock.exists()
    assert lock.parent.is_dir()


def test_locks_stay_while_another_process_lives_and_go_when_it_was_killed(tmp_path, lock):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"alive\n"
        lock.touch()
        with remove_stale_locks(tmp_path):
            assert lock.exists()
        other.kill()
    remove_stale_locks(tmp_path).close()
    assert not lock.exists()
