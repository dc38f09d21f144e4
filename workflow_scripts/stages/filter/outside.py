"""Read a pair corpus from outside, such as PPDB, and compute the columns of its pairs.

Its pairs have the columns that follow from the texts, as those of a system, and no NLLs.
"""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.rows import MODEL_COLUMNS, PairColumnsRow
from workflow_scripts.core.files.shard_frame import Stream, Tally, write_shard
from workflow_scripts.core.text.word_tokens import DROPPED
from workflow_scripts.stages.corpus.pairs import Pair, Rejected, read_pairs
from workflow_scripts.stages.filter.columns import BATCH, Counter


def lines_of(config: dict[str, Any]) -> Iterator[Pair | Rejected]:
    """Yield the lines of a corpus, or what is `ranked` in them pair by pair.

    The source of a `Pair` is the first side, called reference.
    """
    columns = config["columns"]
    block = {
        "tsv": config["tsv"],
        "columns": {"source": columns["reference"], "reference": columns["paraphrase"]},
        "header": config["header"],
        "ranked": config.get("ranked", False),
    }
    return read_pairs(config["name"], block, config["max_line_bytes"], 0)


def with_ranks(pairs: Iterator[Pair]) -> Iterator[tuple[Pair, int]]:
    """Yield pairs, each with its number among those of its line."""
    place, rank = None, 0
    for pair in pairs:
        rank = rank + 1 if pair.place == place else 1
        place = pair.place
        yield pair, rank


def batch_of(name: str, ranked: list[tuple[Pair, int]], counter: Counter) -> pa.RecordBatch:
    """Return some pairs with their ranks and columns, as the schema `pair_columns` has them."""
    references = pa.array([pair.source.strip() for pair, _ in ranked])
    paraphrases = pa.array([pair.reference.strip() for pair, _ in ranked])
    return pa.record_batch(
        {
            "id": pa.array([f"{name}:{pair.place}" for pair, _ in ranked]),
            "reference": references,
            "paraphrase": paraphrases,
            "rank": np.array([rank for _, rank in ranked], np.int32),
            **{column: pa.nulls(len(ranked), pa.float32()) for column in MODEL_COLUMNS},
            **counter.columns(references, paraphrases),
        }
    )


def write_outside(
    config: dict[str, Any], output: Path, inputs: dict[str, str] | None = None
) -> None:
    """Compute the columns of the pairs of a corpus from outside.

    Args:
        config: `name`, `tsv` (files), `columns` (numbers of `reference` and `paraphrase`),
            `header`, `max_line_bytes`; `ranked`, if lines have several paraphrases, and
            `punctuation`, if it is not dropped.
        output: the `pair_columns` shard with all pairs; its record stands beside it.

    Raises:
        InputError: the corpus has no pair, or a file can't be read or changed meanwhile.
    """
    name, tally = config["name"], Tally()
    counter = Counter(config.get("punctuation", DROPPED))

    def good(lines: Iterator[Pair | Rejected]) -> Iterator[Pair]:
        for line in lines:
            if isinstance(line, Pair):
                yield line
                continue
            if line.reason not in tally.rejected:
                print(
                    f"warning: outside.{name}: {line.file}, line {line.line} is left out "
                    f"({line.reason}), the first for this reason; the record counts all",
                    file=sys.stderr,
                )
            tally.rejected[line.reason] += 1

    def with_columns(lines: Iterator[Pair | Rejected]) -> Iterator[pa.RecordBatch]:
        pairs = with_ranks(good(lines))
        any_pair = False
        while chunk := list(islice(pairs, BATCH)):
            any_pair = True
            yield batch_of(name, chunk, counter)
        if not any_pair:
            why = ", ".join(f"{count} {reason}" for reason, count in tally.rejected.items())
            raise InputError(
                f"outside.{name}: no pair in it ({why or 'the files are empty'}); check its paths, "
                "its encoding (UTF-8) and its columns"
            )

    with unchanged(inputs or {}):
        lines: Stream[Pair | Rejected] = Stream(lines_of(config), size=lambda line: 1)
        write_shard(lines, with_columns, output, PairColumnsRow, f"outside {name}: lines", tally)


main = command(write_outside, __name__)
