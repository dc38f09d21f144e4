"""Align the pairs of a share of the training sets, and count phrases and words that stand together.

Counts are whole numbers, so it makes no difference to their sums how pairs are shared out.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.command import command
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.parquet import TableWriter, read_batches
from workflow_scripts.core.files.rows import (
    LexiconCountRow,
    LexiconLinkRow,
    LexiconPhrasesRow,
    TrainingPairRow,
)
from workflow_scripts.core.files.shard_frame import Input, rows_of
from workflow_scripts.core.progress import progress
from workflow_scripts.stages.lexicon.alignment import Table, aligned
from workflow_scripts.stages.lexicon.counting import BUFFER_ROWS, Block, Counts
from workflow_scripts.stages.lexicon.phrase_pairs import counted, phrase_pairs
from workflow_scripts.stages.lexicon.results import (
    ACROSS,
    TOO_LONG,
    WITHIN,
    read_words,
)
from workflow_scripts.stages.lexicon.texts import Numbers, batches, encoded, read_texts, too_long
from workflow_scripts.stages.lexicon.together import across, distinct, inside


def read_table(folder: Path, words: int) -> Table:
    """Return what was learnt of the alignment of words, after verifying its file."""
    path = folder / "links.parquet"
    verify(folder / "words.parquet")
    keys, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for batch in read_batches(path, LexiconLinkRow, None, 1 << 16):
        keys.append(batch.column("key").to_numpy())
        counts.append(batch.column("count").to_numpy())
    return Table(np.concatenate(keys), np.concatenate(counts), words)


def write_blocks(path: Path, row: type, blocks: Iterator[Block]) -> None:
    """Write counts as a table: the numbers of the keys, and the counts."""
    with TableWriter(path, row, 1 << 16) as writer:
        for block in blocks:
            *keys, counts = block.T
            names = ("first", "second") if len(keys) == 2 else ("key",)
            columns = dict(zip(names, keys, strict=True))
            writer.write_columns({**columns, "count": np.ascontiguousarray(counts)})


def write_counts(
    config: dict[str, Any],
    training_sets: list[Path],
    words: Path,
    shards: int,
    output: Path,
    buffer_rows: int = BUFFER_ROWS,
) -> None:
    """Align a share of the pairs, and count phrases and words.

    Args:
        config: `max_tokens` and `max_words`.
        training_sets: their files.
        words: folder of the words and their alignment.
        shards: into which the pairs are shared out.
        output: NUMBER.parquet, the file of the phrases of the shard with that number; those of
            the words stand beside it.
        buffer_rows: of counts of each kind that are held in memory.

    Raises:
        InputError: a file is damaged.
    """
    known = read_words(words).words
    table, numbers = read_table(words, len(known)), Numbers(known)
    pairs = Input(training_sets, TrainingPairRow).count()
    shard = int(output.stem)
    first, last = (pairs * place // shards for place in (shard, shard + 1))
    files = [output.with_name(f"{output.stem}{suffix}.parquet") for suffix in (ACROSS, WITHIN)]
    read = used = 0
    with ExitStack() as stack:
        phrases, apart, together = (
            stack.enter_context(Counts(output.parent, f"{output.stem}{name}", width, buffer_rows))
            for name, width in (("-phrases", 2), (ACROSS, 1), (WITHIN, 1))
        )
        texts = read_texts(training_sets, first, last)
        for batch in progress(texts, last - first, f"pairs {output.stem}", rows_of):
            every = encoded(batch, numbers.tokens)
            usable = [pair for pair in every if not too_long(pair, config["max_tokens"])]
            read, used = read + len(every), used + len(usable)
            for alike in batches(usable):
                extracted = phrase_pairs(alike, aligned(alike, table), config["max_words"])
                phrases.add(counted(extracted))
                sides = tuple(map(distinct, alike))
                apart.add(across(*sides))
                for side in sides:
                    together.add(inside(side))
            numbers.forget()
        write_blocks(output, LexiconPhrasesRow, phrases.blocks())
        write_blocks(files[0], LexiconCountRow, apart.blocks())
        write_blocks(files[1], LexiconCountRow, together.blocks())
    write_record(output, read, used, {TOO_LONG: read - used}, files=[output, *files])


main = command(write_counts, __name__)
