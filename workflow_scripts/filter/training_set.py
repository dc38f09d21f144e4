"""Choose a training set among the pairs of a system: bounds on columns, folds, a seeded sample.

What depends on all pairs, the ends of folds and samples, is found by passes over the columns
alone, exactly and in flat memory.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.manifest import shard_paths
from workflow_scripts.core.shard import Input, Stream, Tally, write_shard
from workflow_scripts.core.training_sets import columns_of
from workflow_scripts.filter.folds import Folds
from workflow_scripts.filter.pairs import (
    Columns,
    Pairs,
    named_folder,
    read_pairs,
    verified_values,
)
from workflow_scripts.filter.sample import Place, last_within, place

Mask = NDArray[np.bool_]

# Why a pair is left out. A third reason is the name of a column whose bounds it does not meet.
OUT_OF_FOLD, NOT_DRAWN = "fold", "sample"
WORDS = ("reference_words", "paraphrase_words")


Passes = Callable[[], Iterable[Pairs]]


def bounded(columns: Columns, settings: dict[str, Any]) -> tuple[Mask, Counter[str]]:
    """Return which pairs are within all bounds, and how many each column rejects.

    A pair counts for the first column whose bounds it does not meet. A pair without a value in a
    column does not meet its bounds, and is in none of its folds.
    """
    kept = np.ones(len(columns["rank"]), bool)
    rejected: Counter[str] = Counter()
    bounds = {
        column: settings["bounds"].get(column, (None, None)) for column in columns_of(settings)
    }
    for column, (low, high) in bounds.items():
        values = columns[column]
        within = ~np.isnan(values)
        # Compared as the float32 numbers that the columns hold: 0.7 is within [0, 0.7].
        within &= low is None or values >= np.float32(low)
        within &= high is None or values <= np.float32(high)
        rejected[column] = int(np.count_nonzero(kept & ~within))
        kept &= within
    return kept, rejected


class TrainingSet:
    """The pairs that a training set's settings choose."""

    def __init__(self, passes: Passes, settings: dict[str, Any]):
        """Find the ends of folds and sample.

        Args:
            passes: gives a new pass over all pairs at each call.
            settings: as `core.training_sets.training_sets` has them.
        """
        self._passes, self._settings = passes, settings
        self._folds: Folds | None = None
        self._last: list[Place] = []
        if settings["folds"]:
            self._folds = Folds(self._ranked, settings["folds"]["of"])
        # The smaller of the two samples; found one by one, as each is of all pairs in the folds.
        limits = [(settings["sample"], False), (settings["max_tokens"], True)]
        self._last = [
            last_within(partial(self._places, weigh), limit)
            for limit, weigh in limits
            if limit is not None
        ]

    def _ranked(self) -> Iterator[NDArray[np.float32]]:
        column = self._settings["folds"]["column"]
        for pairs in self._passes():
            yield pairs.columns[column][bounded(pairs.columns, self._settings)[0]]

    def _places(self, weigh: bool) -> Iterator[tuple[Place, int]]:
        for pairs, kept, _ in self._in_folds(self._passes()):
            references, paraphrases = (pairs.columns[side] for side in WORDS)
            words = references + paraphrases
            for index in np.flatnonzero(kept):
                yield self._place(pairs, index), int(words[index]) if weigh else 1

    def _place(self, pairs: Pairs, index: int) -> Place:
        identifier = pairs.texts.column("id")[int(index)].as_py()
        return place(self._settings["seed"], identifier, int(pairs.columns["rank"][index]))

    def _in_folds(self, pairs: Iterable[Pairs]) -> Iterator[tuple[Pairs, Mask, Counter[str]]]:
        fold_of = self._folds.stream() if self._folds else None
        for some in pairs:
            kept, rejected = bounded(some.columns, self._settings)
            if fold_of:
                found = np.flatnonzero(kept)
                values = some.columns[self._settings["folds"]["column"]][found]
                inside = np.isin(fold_of(values), self._settings["folds"]["keep"])
                kept[found[~inside]] = False
                rejected[OUT_OF_FOLD] = int(np.count_nonzero(~inside))
            yield some, kept, rejected

    def choose(self, pairs: Iterable[Pairs]) -> Iterator[tuple[Pairs, Mask, Counter[str]]]:
        """Yield the pairs of one more pass, which are chosen, and why the others are not."""
        for some, kept, rejected in self._in_folds(pairs):
            for index in np.flatnonzero(kept) if self._last else []:
                if self._place(some, index) > min(self._last):
                    kept[index] = False
                    rejected[NOT_DRAWN] += 1
            yield some, kept, rejected


def write_training_set(
    folder: Path, values: dict[str, Path], shards: int, output: Path, settings: dict[str, Any]
) -> None:
    """Write a training set with its record.

    Args:
        folder: with `pair_columns` shards.
        values: a folder with `pair_values` shards for each column that a model computed.
        shards: their number.
        output: the file.
        settings: of the training set.
    """
    paths = shard_paths(folder, shards)
    rows = Input(paths, "pair_columns").count()
    others = verified_values(values, shards)
    own = {column for column in columns_of(settings) if column not in values}
    names = sorted({"rank", *WORDS, *own})
    chosen = TrainingSet(lambda: read_pairs(paths, others, names, ["id"]), settings)
    texts = ["id", "reference", "paraphrase"]
    pairs = read_pairs(paths, others, names, texts)
    tally = Tally()

    def within(pairs: Iterator[Pairs]) -> Iterator[pa.RecordBatch]:
        for some, kept, why in chosen.choose(pairs):
            tally.rejected += why
            yield some.texts.filter(pa.array(kept))

    write_shard(
        Stream(pairs, rows, lambda some: len(some.texts)),
        within,
        output,
        "training_pairs",
        "training set",
        tally,
    )


def main(argv: list[str] | None = None) -> None:
    """Choose a training set among the pairs of a system."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--folder", type=Path, required=True, help="with shards of pair columns")
    parser.add_argument(
        "--values",
        type=named_folder,
        nargs="*",
        default=[],
        metavar="COLUMN=FOLDER",
        help="with shards of a column that a model computed",
    )
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    write_training_set(
        arguments.folder,
        dict(arguments.values),
        arguments.shards,
        arguments.output,
        arguments.config,
    )


if __name__ == "__main__":
    run(main)
