"""The training process: its log as progress lines, its failures."""

import os
import re
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import IO, Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files import space
from workflow_scripts.core.progress import INTERVAL_SECONDS
from workflow_scripts.stages.train import work_folder

# What the interpreter runs, with the work folder as its argument. Before 3.11, Python does not know
# PYTHONSAFEPATH: there the working directory is taken off the search path before all else.
LAUNCHER = [
    "-c",
    "import sys\n"
    "if not sys.path[0]: del sys.path[0]\n"
    "import runpy\n"
    "module = 'workflow_scripts.stages.train.launcher'\n"
    "runpy.run_module(module, run_name='__main__', alter_sys=True)",
]
_REPOSITORY = Path(__file__).resolve().parents[3]
_LOG_TAIL_LINES = 25
_UPDATES = re.compile(r"E=\d+ B=(?P<batches>\d+)\s.*u/sec=(?P<rate>[\d.]+)\s+ppl=(?P<ppl>[\d.]+)")
_VALIDATION = re.compile(r"Checkpoint \[\d+\]\s.*Validation-ppl=(?P<ppl>[\d.]+)")


class ProgressLines:
    """Turn Sockeye's log into progress lines on stderr, at most one every ten seconds."""

    def __init__(self, role: str, block: dict[str, Any]):
        self._role = role
        self._total = block["max_updates"]
        self._interval = block["update_interval"]
        self._validation = ""
        self._reported = time.monotonic()

    def read(self, line: str) -> None:
        """Take one line of the log."""
        validation = _VALIDATION.search(line)
        if validation:
            self._validation = f", validation {float(validation['ppl']):.2f}"
        updates = _UPDATES.search(line)
        if updates and time.monotonic() - self._reported >= INTERVAL_SECONDS:
            self._reported = time.monotonic()
            print(self._line(updates), file=sys.stderr, flush=True)

    def _line(self, updates: re.Match[str]) -> str:
        done = int(updates["batches"]) // self._interval
        rate = float(updates["rate"])
        left = f"{(self._total - done) / rate / 60:.1f} min left at most" if rate else "starting"
        return (
            f"train {self._role}: {done:,} of {self._total:,} updates "
            f"({done / self._total:.0%}), {rate:.2f}/s, {left}, "
            f"perplexity {float(updates['ppl']):.2f}{self._validation}"
        )


def run_sockeye(
    work: Path, lock: IO[bytes], lines: ProgressLines, threads: int, python: str = sys.executable
) -> None:
    """Run the training process to its end; everything it says is in the work folder's log.

    Args:
        work: the work folder, with its plan.
        lock: the open file of `core.files.file_lock.locked`, which the process inherits.
        lines: reads the log.
        threads: of the training.
        python: the interpreter. Only our own gets the folders in PYTHONPATH.

    Raises:
        InputError: it failed, or was killed; or the disk is full.
    """
    search_path = [str(_REPOSITORY)]
    if python == sys.executable:
        search_path.append(os.environ.get("PYTHONPATH", ""))
    environment = os.environ | {
        "OMP_NUM_THREADS": str(threads),
        "PYTHONPATH": os.pathsep.join(filter(None, search_path)),
        "PYTHONSAFEPATH": "1",
    }
    process = subprocess.Popen(
        [python, *LAUNCHER, str(work)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(lock.fileno(),),
        text=True,
        errors="replace",
    )
    log_path, tail = work / work_folder.LOG, deque[str](maxlen=_LOG_TAIL_LINES)
    with space.explained(log_path), process, log_path.open("a", encoding="utf-8") as log:
        assert process.stdout is not None  # it is a pipe
        for line in process.stdout:
            tail.append(line)
            log.write(line)
            log.flush()
            lines.read(line)
    if process.returncode:
        raise InputError(_failure(work, process.returncode, "".join(tail)))


def _failure(work: Path, status: int, end: str) -> str:
    if space.says_full(end) or space.is_cut_short(end, work):
        return f"{space.message(work)} from its last checkpoint"
    if status == -9:
        reason = "was killed (out of memory?)"
    elif "out of memory" in end:
        reason = "ran out of memory: halve batch_words and double update_interval"
    else:
        reason = f"failed with exit status {status}"
    return (
        f"Sockeye's training {reason}. The same command goes on from its last checkpoint. "
        f"The end of {work / work_folder.LOG}:\n{end}"
    )
