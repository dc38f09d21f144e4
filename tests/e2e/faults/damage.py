"""Finished files that a flipped byte or a lost end has damaged, in one stage after another.

Whoever reads such a file next must find it and say what to do; doing that must lead to the same
bytes. Records and manifests lose their end; data files lose theirs or have a byte flipped.
"""

import os
import random
import re
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from tests.e2e.faults.undisturbed import STAGES, Event, Undisturbed, outcome
from tests.e2e.pipeline import Pipeline

FLIPPED, TRUNCATED = "a byte flipped", "truncated"
# What jobs read files of their own stage for: it is made again, so that they are read.
READ_INSIDE = {
    "subword": ("000?.*",),
    "generate": ("references/*/000?.*",),
    "select": ("000?.*",),
    "filter": ("*-micro/*/000?.*", "half-micro/*/pairs.*"),
    "embed": ("sts/*/sts.json", "sts/*/testing.json"),
    "evaluate": ("manifest.json",),
    "release": ("manifest.json",),
}
# Nothing reads these again: for the user alone, or already in the manifest.
UNREAD = (
    *("rejected.tsv.*", "learning_curve.svg", "report.html", "README.md", "SHA256SUMS"),
    *("*.py", "config_sentence_transformers.json", "whitespacetokenizer_config.json"),
)
# What the user is told to delete.
_ORDER = re.compile(r"error: (\S+) .*; delete (.+?)(?: beside it)? and run again")
# How often the same command may have to be given for one stage.
_ATTEMPTS = 15


def damage(path: Path, how: str) -> None:
    """Flip a bit of the byte in the middle of a file, or cut it off there; its times stay."""
    content, status = bytearray(path.read_bytes()), path.stat()
    middle = len(content) // 2
    if how == FLIPPED:
        content[middle] ^= 1
        path.write_bytes(content)
    else:
        path.write_bytes(content[:middle])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def chosen(undisturbed: Undisturbed, stage: str, chance: random.Random) -> dict[str, str]:
    """Draw one file of each kind that a stage writes and somebody reads, and its damage."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    again = READ_INSIDE.get(stage, ())
    for name in sorted(undisturbed.hashes):
        _, own, *folders, file = name.split("/")
        if own == stage and not any(fnmatch(file, pattern) for pattern in UNREAD):
            if any(fnmatch(name, f"*/{pattern}") for pattern in again):
                continue
            # Corpora, models and repetitions of an embedding are alike; columns are not.
            instance = folders[0].partition("-seed")[0] if stage in ("filter", "embed") else ""
            kinds.setdefault((instance, re.sub(r"\d{4}", "N", file)), []).append(name)
    found = {}
    for files in kinds.values():
        name = chance.choice(files)
        record = name.endswith(".json") and _is_record(undisturbed.pipeline.folder / name)
        found[name] = TRUNCATED if record else chance.choice((FLIPPED, TRUNCATED))
    return found


def _is_record(path: Path) -> bool:
    """Tell a record or a manifest from data in JSON; only they count rows."""
    return b'"rows_in"' in path.read_bytes()


def ruin(
    undisturbed: Undisturbed, folder: Path, seed: str, stages: tuple[str, ...] = STAGES
) -> Iterator[Event]:
    """Let one run go on stage by stage, and damage files of each before the next reads them.

    Args:
        undisturbed: the run to compare with.
        folder: a new one, of the run.
        seed: of which files are damaged, and how.
        stages: consecutive ones, whose files are damaged.
    """
    first = STAGES.index(stages[0])
    pipeline, chance = undisturbed.begun(folder, STAGES[: first + 1]), random.Random(seed)
    events: list[tuple[str, Event]] = []
    for stage in stages:
        damaged = chosen(undisturbed, stage, chance)
        for name, how in damaged.items():
            damage(pipeline.folder / name, how)
        for pattern in READ_INSIDE.get(stage, ()):
            for path in (pipeline.folder / "results" / stage).glob(f"**/{pattern}"):
                path.unlink()
        start = time.monotonic()
        targets = STAGES[STAGES.index(stage) :][:2]
        named = follow_orders(pipeline, targets)
        seconds = (time.monotonic() - start) / len(damaged)
        print(f"seed {seed}: {stage}: {damaged}; named: {named}", flush=True)
        for name, how in damaged.items():
            text = "found" if name in named else "made again with another"
            events.append((name, Event(how, stage, text, seconds, True)))
    pipeline.run()
    differences = undisturbed.differences(pipeline)
    text, right = outcome(differences)
    for name, event in events:
        found = event.outcome if name not in differences else f"NOT FOUND: {name}"
        yield event._replace(outcome=f"{found}, {text}", right=right)


def follow_orders(pipeline: Pipeline, targets: tuple[str, ...]) -> list[str]:
    """Give the same command until it succeeds, deleting what it says; return what it named."""
    named: list[str] = []
    for _ in range(_ATTEMPTS):
        status, output = pipeline.attempt(*targets)
        if status == 0:
            return named
        orders = set(_ORDER.findall(output))
        assert orders and "Traceback (most recent call last)" not in output, output
        for name, wanted in sorted(orders):
            path = pipeline.folder / name
            for each in re.split(", | and ", wanted):
                # Two jobs may have told the same.
                (path if each == "it" else path.with_name(each)).unlink(missing_ok=True)
        named += [name for name, _ in sorted(orders)]
    raise AssertionError(f"the run has not come to its end, although {named} were deleted")
