"""Decide which references are paraphrased: a seeded sample that needs no list of its members.

Every reference has a number in [0, 1) that follows from the seed and its id; the sample holds
the references with the smallest numbers. All that has to be written down is the largest
(number, id) in it, the cut-off, and any shard can be filtered by itself.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction

Place = tuple[float, str]  # a reference's number and its id
# The record of the sample, which has the suffix of a record itself: sampling.json. It counts no
# rows: the references' own records do.
RECORD = "sampling"

_BINS = 1 << 16
# Before all references.
_NONE: Place = (0.0, "")


def place(seed: int, identifier: str) -> Place:
    """Return where a reference stands in the seeded order of all references."""
    return fraction(seed, "references", identifier), identifier


def cutoff(places: Callable[[], Iterable[Place]], limit: int) -> Place:
    """Return the `limit`-th smallest place, in two passes and flat memory.

    The first pass counts the places in 65,536 equal intervals of [0, 1), the second sorts those
    of the one interval that holds the cut-off.

    Args:
        places: gives a new pass over all places at each call; at least `limit` of them.
        limit: at least 1.
    """
    counts = np.zeros(_BINS, np.int64)
    for number, _ in places():
        counts[int(number * _BINS)] += 1
    interval = int(np.searchsorted(counts.cumsum(), limit))
    limit -= int(counts[:interval].sum())
    return sorted(entry for entry in places() if int(entry[0] * _BINS) == interval)[limit - 1]


def sample(
    rows: Callable[[], Iterable[PairRow]],
    corpora: list[str],
    limit: int | dict[str, int | None] | None,
    seed: int,
) -> dict[str, Any]:
    """Return the cut-off of every corpus and how many of its references are in the sample.

    Args:
        rows: gives a new pass over all pairs (`id` and `corpus` suffice) at each call.
        corpora: those whose references may be paraphrased.
        limit: how many in all; or at most how many of each corpus, None (or not named):
            without a limit; or None for all of them.
        seed: of the order.

    Returns:
        {"cutoffs": {corpus: [number, id] of the last one in, or null for all of it; a limit of 0
        has the number 0 and no id},
        "references": {corpus: how many there are}}.

    Raises:
        InputError: a corpus has no references, a limit is for a corpus that isn't listed, or
            limits leave nothing.
    """
    unknown = sorted(set(limit) - set(corpora)) if isinstance(limit, dict) else []
    if unknown:
        raise InputError(f"generate.limit: {unknown[0]} is not among generate.corpora {corpora}")
    available = Counter(row["corpus"] for row in rows())
    for corpus in corpora:
        if not available[corpus]:
            raise InputError(
                f"generate.corpora: no pair of {corpus} is left to paraphrase; see what the "
                "clean and dual_filter stages rejected, or take it off the list"
            )
    # Corpora that share one limit also share one cut-off.
    groups = (
        [(corpora, limit)]
        if isinstance(limit, int)
        else [([corpus], (limit or {}).get(corpus)) for corpus in corpora]
    )
    if not any(most is None or most > 0 for _, most in groups):
        raise InputError("generate.limit leaves no reference; raise it for one corpus at least")
    cutoffs: dict[str, Place | None] = {}
    for members, most in groups:
        last = None
        if most is not None and most < sum(available[corpus] for corpus in members):
            last = cutoff(_places(rows, members, seed), most) if most else _NONE
        cutoffs |= dict.fromkeys(members, last)
    return {"cutoffs": cutoffs, "references": {corpus: available[corpus] for corpus in corpora}}


def _places(
    rows: Callable[[], Iterable[PairRow]], corpora: list[str], seed: int
) -> Callable[[], Iterable[Place]]:
    return lambda: (place(seed, row["id"]) for row in rows() if row["corpus"] in corpora)


def write_sample(folder: Path, shards: int, output: Path, config: dict[str, Any]) -> None:
    """Write the sample of a folder's `pairs` shards as JSON."""
    paths = shard_paths(folder, shards)
    for path in paths:
        verify(path)

    def rows() -> Iterable[PairRow]:
        for path in paths:
            yield from read_rows(path, PairRow, columns=["id", "corpus"])

    cutoffs = sample(
        lambda: progress(rows(), desc="references"),
        config["corpora"],
        config["limit"],
        config["seed"],
    )
    write_json(output, {**config, **cutoffs})
    write_record(output.with_name(RECORD), 0, 0, {}, files=[output])


main = command(write_sample, __name__)
