"""Power cuts: what a file system may have lost at a moment of a run, and the same command then.

The run is logged operation by operation (power_log.c) and done again in memory (volume.py), where
the power fails after any operation, in six ways. What is left then must be sound: a file that has
its final name is whole, also in a folder that was renamed; a manifest has all its files, and the
manifests that it was made of, so that no training is done again for the sake of what it read. For
some of these cuts what is left is written to disk and the same command is given; it must end with
the bytes of the undisturbed run, and must not train again what was finished.

python -m tests.e2e.faults.power [--seed N] [--cuts N] [--runs N]
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.e2e import micro
from tests.e2e.faults.undisturbed import STAGES, Event, Undisturbed, finished_files, outcome
from tests.e2e.faults.volume import (
    CRASHES,
    Crash,
    File,
    Operation,
    Tree,
    Volume,
    read_log,
    write_tree,
)
from tests.e2e.pipeline import Pipeline, is_data

_SOURCE = Path(__file__).with_name("power_log.c")
_LOCK_BYTES = 4096
# Operations whose power cuts are checked, each in all ways; and how many cuts are run to the end.
CUTS, RUNS = 300, 12
_TRAINED = ("train", "embed")
SOUND = "what is left is whole"


def obstacle() -> str | None:
    """Return why no run can be logged here, None if it can."""
    if not sys.platform.startswith("linux"):
        return "the logger preloads into Linux processes only"
    return None if shutil.which("gcc") else "there is no gcc"


class Recording(NamedTuple):
    """A logged run: the folder before it, what was done there, and every file at the end."""

    before: Path
    operations: list[Operation]
    end: dict[str, bytes]

    def volume(self) -> Volume:
        """Return the folder before the first operation."""
        return Volume(self.before)


def record(pipeline: Pipeline, folder: Path) -> Recording:
    """Run a pipeline to its end, logged.

    Args:
        pipeline: the run; all it has at first counts as durable.
        folder: a new one, for the log.

    Raises:
        AssertionError: the log done again does not give the files that are there.
    """
    folder.mkdir()
    library, log, lock, before = (folder / name for name in ("log.so", "log", "lock", "before"))
    options = ("-O1", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl", "-lpthread")
    subprocess.run(["gcc", *options], check=True)
    log.touch()
    lock.write_bytes(bytes(_LOCK_BYTES))
    root = pipeline.folder.resolve()
    shutil.copytree(root, before, symlinks=True)
    logged = Pipeline(pipeline.folder, pipeline.config)
    logged.environment = {
        **pipeline.environment,
        "LD_PRELOAD": str(library),
        "PARALOOM_POWER_ROOT": str(root),
        "PARALOOM_POWER_LOG": str(log),
        "PARALOOM_POWER_LOCK": str(lock),
    }
    logged.run()
    operations, volume = list(read_log(log, root)), Volume(before)
    for operation in operations:
        volume.apply(operation)
    end = {path: node.data for path, node in volume.seen().items() if isinstance(node, File)}
    there = {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    assert end == there, f"the log lacks {_different(end, there)}"
    return Recording(before, operations, end)


def _different(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    both = sorted(first.keys() | second.keys())
    return [path for path in both if first.get(path) != second.get(path)][:5]


class Rules:
    """What must be true of whatever a power cut leaves."""

    def __init__(self, end: dict[str, bytes]):
        data = {path: content for path, content in end.items() if is_data(path)}
        self._data = data
        # By manifest: the files that must be there beside it.
        self._needed: dict[str, list[str]] = {}
        for path in data:
            folder, _, name = path.rpartition("/")
            if name == "manifest.json":
                upstream = json.loads(data[path]).get("upstream", {})
                self._needed[path] = [each for each in data if each.startswith(f"{folder}/")]
                self._needed[path] += [f"results/{unit}/{name}" for unit in upstream]

    def broken(self, tree: Tree) -> list[str]:
        """Return what is wrong with what is left."""
        wrong = [
            f"{path} has other bytes"
            for path, node in tree.items()
            if isinstance(node, File) and is_data(path) and node.data != self._data.get(path)
        ]
        return wrong + [
            f"{path} is left, and not {each}"
            for path, needed in self._needed.items()
            if path in tree
            for each in needed
            if each not in tree
        ]


def cut(
    undisturbed: Undisturbed,
    folder: Path,
    seed: str,
    done: tuple[str, ...] = (),
    cuts: int = CUTS,
    runs: int = RUNS,
) -> Iterator[Event]:
    """Log a run and cut its power.

    Args:
        undisturbed: the run to compare with.
        folder: a new one.
        seed: of the moments, and of what each cut leaves.
        done: the stages that are done when it begins.
        cuts: how many moments are checked in memory, each in all ways.
        runs: how many cuts are run to their end.
    """
    pipeline, recording = logged(undisturbed, folder, done)
    chance = random.Random(seed)
    moments = spread(len(recording.operations), cuts, chance)
    # Every way is run to the end at moments of the whole run.
    chosen = {
        (moments[place], CRASHES[number % len(CRASHES)])
        for number, place in enumerate(spread(len(moments), runs, chance))
    }
    for number, crash, tree, broken in checked(recording, moments, seed):
        operation = recording.operations[number]
        stage = _stage(operation)
        yield Event(crash.name, stage, ", ".join(broken[:3]) or SOUND, 0.0, not broken)
        if (number, crash) in chosen:
            what = f"seed {seed}: power cut after operation {number} ({operation[:2]})"
            yield _run_again(undisturbed, pipeline, tree, crash, stage, what)


def logged(
    undisturbed: Undisturbed, folder: Path, done: tuple[str, ...] = ()
) -> tuple[Pipeline, Recording]:
    """Run the pipeline of `undisturbed` in a new folder, logged, from some stages on."""
    folder.mkdir()
    place = folder / "work"
    if done:
        undisturbed.begun(place, done)
    pipeline = Pipeline(place, undisturbed.pipeline.config)
    recording = record(pipeline, folder / "log")
    assert not undisturbed.differences(pipeline)
    return pipeline, recording


def checked(
    recording: Recording, moments: list[int], seed: str
) -> Iterator[tuple[int, Crash, Tree, list[str]]]:
    """Yield the number of a moment, a way to lose what is not synced, what it leaves, its faults.

    Args:
        recording: the run.
        moments: numbers of the operations after which the power fails, in their order.
        seed: of what is left.
    """
    rules, volume, following = Rules(recording.end), recording.volume(), iter(moments)
    wanted = next(following, None)
    for number, operation in enumerate(recording.operations):
        volume.apply(operation)
        if number != wanted:
            continue
        for crash in CRASHES:
            tree = volume.after(crash, random.Random(f"{seed}.{number}.{crash.name}"))
            yield number, crash, tree, rules.broken(tree) + volume.lost(tree)
        wanted = next(following, None)


def spread(length: int, count: int, chance: random.Random) -> list[int]:
    """Draw `count` of `length` numbers, one from each of as many equal parts, in their order."""
    count = min(count, length)
    bounds = [length * number // count for number in range(count + 1)]
    return [chance.randrange(*bounds[number : number + 2]) for number in range(count)]


def _stage(operation: Operation) -> str:
    parts = Path(operation.path or "").parts
    inside = len(parts) > 2 and parts[0] == "results" and parts[1] in STAGES
    return parts[1] if inside else "Snakemake's files"


def _run_again(
    undisturbed: Undisturbed, pipeline: Pipeline, tree: Tree, crash: Crash, stage: str, what: str
) -> Event:
    """Put on disk what a cut left, give the same command, and say what comes of it."""
    shutil.rmtree(pipeline.folder)
    write_tree(tree, pipeline.folder)
    fault = f"{crash.name}, then the same command"
    models = {
        name: _inode(pipeline, name)
        for name in finished_files(pipeline)
        if name.endswith("/model.json") and name.split("/")[1] in _TRAINED
    }
    start, used = time.monotonic(), _cpu_seconds()
    status, output = pipeline.attempt()
    seconds = time.monotonic() - start
    if status == 0:
        wrong = undisturbed.differences(pipeline)
        wrong += [
            f"{name} was made again"
            for name, before in models.items()
            if before != _inode(pipeline, name)
        ]
        text, right = outcome(wrong)
    else:
        print(output, flush=True)
        text, right = "THE RUN FAILED", False
    print(f"{what}: {crash.name}: {text}, {_cpu_seconds() - used:.0f} s of CPU", flush=True)
    return Event(fault, stage, text, seconds, right)


def _inode(pipeline: Pipeline, name: str) -> int:
    """Return what tells whether a file was replaced; times are mended."""
    return (pipeline.folder / name).stat().st_ino


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Cut the power of the micro run, print the table, and return the exit status."""
    from tests.e2e.faults.__main__ import table

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cuts", type=int, default=CUTS)
    parser.add_argument("--runs", type=int, default=RUNS)
    arguments = parser.parse_args()
    if obstacle():
        sys.exit(f"error: {obstacle()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = micro.config(micro.write_bitext(folder / "bitext"))
        pipeline = Pipeline(folder / "undisturbed", config)
        pipeline.run()
        events = list(
            cut(
                Undisturbed(pipeline),
                folder / "power",
                arguments.seed,
                cuts=arguments.cuts,
                runs=arguments.runs,
            )
        )
    print(table(events))
    wrong = [event for event in events if not event.right]
    print(
        f"{len(events)} power cuts, seed {arguments.seed}, {os.times().children_user:.0f} s of "
        f"CPU: {len(wrong)} wrong"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
