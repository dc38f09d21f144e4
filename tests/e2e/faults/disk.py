"""A disk that is too small: a tmpfs that is full again and again, and each time enlarged a bit."""

import os
import random
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.faults.undisturbed import Event, Undisturbed, outcome
from workflow_scripts.core.files.space import ADVICE

RESULTS, ALL = "results", "."
# The range of free KiB when a run begins: enough for some files. The size doubles as long as the
# same jobs need more, as a training does for its checkpoints.
FREE = (4, 120)
ENOUGH = 1 << 16
_FAILED = re.compile(r"^Error in rule (\w+):", re.MULTILINE)
_NAMED = re.compile(r"\S+: no space left on device", re.IGNORECASE)


def obstacle() -> str | None:
    """Return why there can be no small disk on this machine; None if there can."""
    if os.geteuid() != 0:
        return "only root may mount a tmpfs"
    if shutil.which("mount") is None:
        return "there is no program mount"
    return None


class SmallDisk:
    """A mounted tmpfs."""

    def __init__(self, folder: Path):
        self.folder = folder

    def free(self, kibibytes: int) -> None:
        """Enlarge or shrink the disk to so much free space."""
        used = shutil.disk_usage(self.folder).used // 1024
        self._mount(f"remount,size={used + kibibytes}k")

    def _mount(self, options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)]
        subprocess.run(command, check=True)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """Mount a tmpfs on a folder for the block; the folder's content moves to the tmpfs."""
    beside = folder.with_name(f"{folder.name}.before")
    folder.rename(beside)
    folder.mkdir()
    disk = SmallDisk(folder)
    disk._mount(f"size={ENOUGH}k")
    try:
        shutil.copytree(beside, folder, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(beside)
        yield disk
    finally:
        # Lazily, as processes that hang would keep it mounted.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def complaints(output: str) -> list[str]:
    """Return the faults of the message that the user gets when the disk is full."""
    missing = {
        "no file is named": _NAMED.search(output),
        "no advice is given": ADVICE in output,
        "a traceback shows": "Traceback (most recent call last)" not in output,
    }
    return [fault for fault, fine in missing.items() if not fine]


def fill(
    undisturbed: Undisturbed,
    folder: Path,
    seed: str,
    done: tuple[str, ...],
    place: str,
    most: int = 60,
) -> Iterator[Event]:
    """Run on a nearly full disk, enlarge it a little, and run again until all stages are done.

    Args:
        undisturbed: the run to compare with.
        folder: of the run; it is new.
        seed: of the sizes.
        done: the stages that are done at the start.
        place: the folder on the small disk: `results`, or all of the working directory.
        most: how often the disk is full at most; after that it gets all the space that it needs.
    """
    pipeline, chance = undisturbed.begun(folder, done), random.Random(seed)
    (folder / "results").mkdir(exist_ok=True)
    events: list[Event] = []
    rules: list[str] = []
    scale = 1
    with small_disk(folder / place) as disk:
        while True:
            free = scale * chance.randint(*FREE)
            disk.free(ENOUGH if len(events) == most else free)
            start = time.monotonic()
            status, output = pipeline.attempt()
            seconds = time.monotonic() - start
            if status == 0:
                break
            assert len(events) < most, f"the run fails on a large disk:\n{output}"
            before, rules = rules, sorted(set(_FAILED.findall(output)))
            scale = 2 * scale if rules == before else 1
            where = [_stage(output, rule) for rule in rules]
            print(
                f"seed {seed}: {free} KiB free in {place}, full in {', '.join(rules)}", flush=True
            )
            wrong = complaints(output) + undisturbed.wrong_files(pipeline)
            if wrong:
                print(output, flush=True)
            stage = where[0] if where else "start"
            events.append(
                Event(f"disk full ({place})", stage, ", ".join(wrong), seconds, not wrong)
            )
        text, right = outcome(undisturbed.differences(pipeline))
    for event in events:
        yield event._replace(outcome=event.outcome or text, right=event.right and right)


def _stage(output: str, rule: str) -> str:
    """Return the stage of a rule that failed; a manifest's is that of the file it writes."""
    block = output[output.index(f"Error in rule {rule}:") :]
    found = re.search(r"^    output: results/(\w+)/", block, re.MULTILINE)
    return found[1] if found else rule.partition("_")[0]
