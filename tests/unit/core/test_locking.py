import subprocess
import sys
import threading

from workflow_scripts.core.files.file_lock import locked


def wait_and_hold(work):
    """Take the lock in a thread; return the thread, and what it sets once it has the lock."""
    held = threading.Event()

    def hold() -> None:
        with locked(work):
            held.set()

    waiting = threading.Thread(target=hold, daemon=True)
    waiting.start()
    return waiting, held


def test_a_second_process_waits_until_the_first_is_done_and_says_so(tmp_path, capsys):
    with locked(tmp_path):
        second, held = wait_and_hold(tmp_path)
        assert not held.wait(0.3)
        assert f"waiting for the process that is training in {tmp_path}" in capsys.readouterr().err
    assert held.wait(10)
    second.join(10)


def test_the_lock_lasts_as_long_as_a_child_that_inherits_it(tmp_path):
    with locked(tmp_path) as lock:
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock.fileno(),)
        )
    second, held = wait_and_hold(tmp_path)
    assert not held.wait(0.3)
    child.communicate(b"\n")
    assert held.wait(10)
    second.join(10)
