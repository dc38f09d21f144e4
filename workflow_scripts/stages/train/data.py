"""The text files and vocabularies that Sockeye reads, from shards of segments."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path, write_json
from workflow_scripts.core.files.parquet import count_rows, read_rows
from workflow_scripts.core.files.rows import SegmentRow, Side
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.train import work_folder

# Sockeye's special symbols, in the only order that it accepts.
_SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
_FILES = {
    "train": (work_folder.TRAIN_SOURCE, work_folder.TRAIN_TARGET),
    "dev": (work_folder.DEV_SOURCE, work_folder.DEV_TARGET),
    "test": (work_folder.TEST_SOURCE, work_folder.TEST_TARGET),
}


def sides(direction: str) -> tuple[Side, Side]:
    """Return which side of the bitext a model reads and which it writes."""
    return ("source", "reference") if direction == "forward" else ("reference", "source")


def vocabulary(segmenter: Segmenter) -> dict[str, int]:
    """Return Sockeye's vocabulary of one side: every piece of the model, seen in training or not.

    So the piece ids depend on the sub-word model alone, and no piece of it is ever <unk>. A piece
    that is spelt like a special symbol, from text about such symbols, has no entry of its own.
    """
    pieces = [piece for piece in segmenter.vocabulary() if piece not in _SPECIAL]
    return {piece: index for index, piece in enumerate([*_SPECIAL, *pieces])}


def fits(row: SegmentRow, max_length: float) -> bool:
    """Return whether no side of a segment has more than `max_length` pieces."""
    longest = max(len(row["source"].split(" ")), len(row["reference"].split(" ")))
    return longest <= max_length


def dev_sample(shards: list[Path], max_length: float, pairs: int, seed: int) -> set[str]:
    """Return the ids of a seeded sample of the segments to validate on, `pairs` at most.

    Too long ones are not drawn.
    """
    rows = chain.from_iterable(read_rows(shard, SegmentRow) for shard in shards)
    ids = (row["id"] for row in rows if row["split"] == "dev" and fits(row, max_length))
    return set(heapq.nsmallest(pairs, ids, key=lambda name: (fraction(seed, "dev", name), name)))


def select_rows(
    rows: Iterable[SegmentRow],
    max_length: float,
    counts: Counter[str],
    dev: set[str] | None = None,
) -> Iterator[SegmentRow]:
    """Pass on the segments to train, validate and test on; count all by split.

    Segments of more than `max_length` pieces on either side are left out (and counted) where
    Sockeye would leave them out without a word: in train and dev, not in test. `dev` has the ids
    to validate on; None: all.
    """
    for row in rows:
        if row["split"] == "dev" and dev is not None and row["id"] not in dev:
            counts["dev_not_drawn"] += 1
            continue
        counts[row["split"]] += 1
        if row["split"] != "test" and not fits(row, max_length):
            counts[f"{row['split']}_too_long"] += 1
        else:
            yield row


def write_text(
    shards: list[Path],
    direction: str,
    max_length: float,
    work: Path,
    needed: tuple[str, ...],
    written: tuple[str, ...] = tuple(_FILES),
    dev: set[str] | None = None,
) -> dict[str, int]:
    """Write splits as text, one segment a line, and last of all the counts of all three.

    Args:
        shards: files of segments.
        direction: "forward" or "backward".
        max_length: the most pieces that a side of a training or validation segment may have;
            may be infinite.
        work: the folder to write to.
        needed: the splits that must not be empty.
        written: the splits to write.
        dev: the ids of the segments to validate on; None: all.

    Returns:
        Segments by split, those left out by `<split>_too_long`, and `dev_not_drawn`.

    Raises:
        InputError: a needed split is empty, or all of it is too long.
    """
    counts: Counter[str] = Counter()
    total = sum(map(count_rows, shards))
    rows = chain.from_iterable(read_rows(shard, SegmentRow) for shard in shards)
    with ExitStack() as stack:
        streams = {
            split: [
                stack.enter_context(
                    stack.enter_context(atomic_path(work / name)).open("w", encoding="utf-8")
                )
                for name in _FILES[split]
            ]
            for split in written
        }
        for row in select_rows(progress(rows, total, "segments"), max_length, counts, dev):
            if row["split"] in written:
                for stream, side in zip(streams[row["split"]], sides(direction), strict=True):
                    stream.write(row[side] + "\n")
    for split in needed:
        if not counts[split]:
            raise InputError(
                f"no {split} segments in {shards[0].parent}: does "
                f"train.{'corpora' if split == 'train' else split} name the right corpus, "
                "and does clean leave any of it?"
            )
        if counts[split] == counts[f"{split}_too_long"]:
            raise InputError(
                f"all {counts[split]:,} {split} segments in {shards[0].parent} are longer than the "
                f"model's max_length, {max_length} pieces: raise it"
            )
    write_json(work / work_folder.COUNTS, counts)
    return dict(counts)
