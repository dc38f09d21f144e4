"""Damaged files of finished stages: a byte is flipped, or the end is lost.

The next job that reads such a file must find the damage and say what to do; `status --verify` must
find it where no job reads the file. If the user does what it says, the run must end with the same
bytes. Records and manifests lose their end or have a digit changed,
whichever figure it is of; data files lose their end or have a byte flipped.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from tests.e2e.faults.undisturbed import STAGES, Event, Undisturbed, outcome
from tests.e2e.pipeline import ROOT, Pipeline

FLIPPED, TRUNCATED, DIGIT = "a byte flipped", "truncated", "a digit changed"
# Files that a stage makes of its own files: they are made again, so that the latter are read.
READ_INSIDE = {
    "subword": ("000?.*", "manifest.json"),
    "generate": ("references/*/000?.*",),
    "select": ("000?.*",),
    "filter": ("*-micro/*/000?.*", "half-micro/*/pairs.*", "*-micro/*/manifest.json"),
    "embed": ("sts/*/*.json",),
    "evaluate": ("manifest.json",),
    "release": ("SHA256SUMS", "manifest.json"),
}
# Without a record: SHA256SUMS is what a release is checked by, and the report holds no data.
NO_RECORD = ("report.html", "SHA256SUMS")
# The message that tells the user what to delete. While Snakemake plans, its own words stand on the
# line before.
_ORDER = re.compile(
    r"(?:error: |warning: |^)(results/\S+) .*; delete (.+?)(?: beside it)? and run again",
    re.MULTILINE,
)
# How often the same command may have to be given for one stage.
_ATTEMPTS = 15


def damage(path: Path, how: str) -> None:
    """Flip a bit in the middle of a file, or cut the file off there; its times stay the same.

    Or change the digit that is nearest to the middle.
    """
    content, status = bytearray(path.read_bytes()), path.stat()
    middle = len(content) // 2
    if how == FLIPPED:
        content[middle] ^= 1
        path.write_bytes(content)
    elif how == DIGIT:
        digits = [match.start() for match in re.finditer(rb"\d", content)]
        nearest = min(digits, key=lambda at: abs(at - middle))
        content[nearest] ^= 1  # 0 becomes 1, 1 becomes 0 ... 9 becomes 8
        path.write_bytes(content)
    else:
        path.write_bytes(content[:middle])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def chosen(
    undisturbed: Undisturbed, stage: str, records: bool, chance: random.Random
) -> dict[str, str]:
    """Draw files of a stage, one of each kind of folder, and how each is damaged.

    One is enough: if a file is damaged, all files of its job are made again.

    Args:
        undisturbed: the run.
        stage: whose files.
        records: whether they are records and manifests, or the data these speak for.
        chance: draws.
    """
    again = READ_INSIDE.get(stage, ())
    folders: dict[str, dict[str, list[str]]] = {}
    for name in sorted(undisturbed.hashes):
        folder, _, file = name.rpartition("/")
        _, own, instance, *_ = name.split("/")
        if own != stage or any(fnmatch(file, pattern) for pattern in NO_RECORD):
            continue
        if any(fnmatch(name, f"*/{pattern}") for pattern in again):
            continue
        if _is_record(undisturbed.pipeline.folder / name) == records:
            # Corpora, models and repetitions of an embedding are alike; columns are not.
            kind = instance.partition("-seed")[0] if stage in ("filter", "embed") else ""
            kind = folder if stage == "generate" else kind
            # A model without its manifest can't be judged where what it was made of is damaged:
            # the run refuses both at once (tests/unit/plan/test_finished.py).
            kind = "" if stage == "embed" and records else kind
            folders.setdefault(kind, {}).setdefault(folder, []).append(name)
    return {
        chance.choice(files): chance.choice((DIGIT if records else FLIPPED, TRUNCATED))
        for alike in folders.values()
        for files in [alike[chance.choice(sorted(alike))]]
    }


def _is_record(path: Path) -> bool:
    """Tell a record or a manifest from data; only they count rows."""
    return path.suffix == ".json" and b'"rows_in"' in path.read_bytes()


def ruin(
    undisturbed: Undisturbed, folder: Path, seed: str, stages: tuple[str, ...] = STAGES
) -> Iterator[Event]:
    """Run the stages, and damage files of some of them before the next stage reads them.

    Args:
        undisturbed: the run to compare with.
        folder: of the run; it is new.
        seed: of the choice of files and damages.
        stages: whose files are damaged, in the order of the flow.
    """
    first = STAGES.index(stages[0])
    pipeline, chance = undisturbed.begun(folder, STAGES[: first + 1]), random.Random(seed)
    events: list[tuple[str, Event]] = []
    named: set[str] = set()
    for stage in stages:
        named |= follow_orders(pipeline, (stage,))
        for records in (False, True):
            damaged = chosen(undisturbed, stage, records, chance)
            for name, how in damaged.items():
                damage(pipeline.folder / name, how)
            make_readers_run(pipeline, stage)
            start = time.monotonic()
            found = follow_orders(pipeline, STAGES[STAGES.index(stage) :][:2])
            seconds = (time.monotonic() - start) / max(1, len(damaged))
            print(f"seed {seed}: {stage}: {damaged}; named: {found}", flush=True)
            named |= found
            events += [
                (name, Event(how, stage, "", seconds, True)) for name, how in damaged.items()
            ]
    named |= follow_orders(pipeline, ())
    named |= follow_verify(pipeline)
    differences = undisturbed.differences(pipeline)
    text, right = outcome(differences)
    for name, event in events:
        fate = "found" if name in named else "made again with another"
        fate = f"NOT FOUND: {name}" if name in differences else fate
        yield event._replace(outcome=f"{fate}, {text}", right=right)


def make_readers_run(pipeline: Pipeline, stage: str) -> None:
    """Remove the files that were made of a stage's files, in this stage and in the later ones."""
    results = pipeline.folder / "results"
    for following in STAGES[STAGES.index(stage) + 1 :]:
        if following != "train":  # which would begin anew; it verifies before it publishes again
            shutil.rmtree(results / following, ignore_errors=True)
        for path in (results / following).rglob("m*.json"):
            path.unlink()
    for pattern in READ_INSIDE.get(stage, ()):
        for path in (results / stage).glob(f"**/{pattern}"):
            path.unlink()


def follow_orders(pipeline: Pipeline, targets: tuple[str, ...]) -> set[str]:
    """Repeat the command until it succeeds; delete the files that it names, and return them."""
    named: set[str] = set()
    for _ in range(_ATTEMPTS):
        status, output = pipeline.attempt(*targets)
        if status == 0:
            return named
        named |= follow(pipeline, output)
    raise AssertionError(f"the run has not come to its end, although {named} were deleted")


def follow_verify(pipeline: Pipeline) -> set[str]:
    """Delete what `status --verify` names, run again, and return the files; then none is left."""
    command = (sys.executable, "-m", "workflow_scripts.commands.status", "--verify")
    environment = {**pipeline.environment, "PYTHONPATH": str(ROOT)}
    named: set[str] = set()
    for found in (True, False):
        done = subprocess.run(
            command, cwd=pipeline.folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0 or (found and done.returncode == 1), done.stdout + done.stderr
        if done.returncode == 1:
            named |= follow(pipeline, done.stdout)
            named |= follow_orders(pipeline, ())
    return named


def follow(pipeline: Pipeline, output: str) -> set[str]:
    """Delete the files that the messages in `output` name, and return those that are damaged."""
    orders = set(_ORDER.findall(output))
    assert orders and "Traceback (most recent call last)" not in output, output
    for name, wanted in sorted(orders):
        path = pipeline.folder / name
        for each in re.split(", | and ", wanted):
            # Two jobs may have told the same.
            (path if each == "it" else path.parent / each).unlink(missing_ok=True)
    return {name for name, _ in orders}
