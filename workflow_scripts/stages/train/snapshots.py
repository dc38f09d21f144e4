"""Whole copies of Sockeye's model folder, one per checkpoint, to resume from after a kill.

A kill -9 inside a checkpoint can leave Sockeye's own folder in states that it refuses or
misreads: `tmp.training_state` or `delete.training_state` left over, `training_state` renamed away
or pointing to parameters that were never or half written, `params.best` pointing nowhere. Instead
of mending each of them, the folder is never trusted after an interruption: training always goes
on from the newest snapshot, which appears whole (by a rename) or not at all. A snapshot is taken
at the very end of each checkpoint; a kill costs at most the updates since then.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from workflow_scripts.core.files.atomic import publish_folder

_NAME = re.compile(r"snapshot\.(\d{6})")
_UNFINISHED = ".unfinished"


def _copy_tree(source: Path, target: Path) -> None:
    """Copy a folder so that `target` appears whole; links stay links (they are relative)."""
    # What a kill or a full disk left, of whatever checkpoint, takes up space that is needed now.
    for leftover in target.parent.glob(f"*{_UNFINISHED}"):
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished = target.with_name(f"{target.name}{_UNFINISHED}")
    shutil.copytree(source, unfinished, symlinks=True)
    publish_folder(unfinished, target)


def snapshots(work: Path) -> list[Path]:
    """Return the complete snapshots in the work folder, oldest first."""
    return sorted(path for path in work.iterdir() if _NAME.fullmatch(path.name))


def drop(work: Path) -> None:
    """Remove all snapshots, of a training that will not go on."""
    for path in snapshots(work):
        shutil.rmtree(path)


def take(work: Path, model: Path, checkpoint: int) -> None:
    """Keep a copy of `model` as it is after `checkpoint`, then drop the older ones."""
    older = snapshots(work)
    _copy_tree(model, work / f"snapshot.{checkpoint:06d}")
    for path in older:
        shutil.rmtree(path)


def restore(work: Path, model: Path) -> bool:
    """Make `model` what it was at the newest snapshot; without one, remove it.

    Returns:
        Whether there was a snapshot to go on from.
    """
    shutil.rmtree(model, ignore_errors=True)
    existing = snapshots(work)
    if not existing:
        return False
    _copy_tree(existing[-1], model)
    return True
