"""Choose a training set among the pairs of a system: by columns, folds, ranks, a seeded sample.

What depends on all pairs, the ends of folds and samples, is found by passes over the columns
alone, exactly and in flat memory.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import shard_paths
from workflow_scripts.core.files.rows import PairColumnsRow, TrainingPairRow
from workflow_scripts.core.files.shard_frame import Input, Stream, Tally, write_shard
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.plan.catalogues.training_sets import columns_of
from workflow_scripts.stages.filter.folds import Folds
from workflow_scripts.stages.filter.pair_stream import (
    Columns,
    Pairs,
    corpora_of,
    read_pairs,
    verified_values,
)
from workflow_scripts.stages.filter.ranks import at_ranks, whole_references
from workflow_scripts.stages.filter.sample import Place, last_within, place
from workflow_scripts.stages.filter.shared_references import Keys, among, in_common, keys_of

Mask = NDArray[np.bool_]

# Why a pair is left out. A further reason is the name of a column whose bounds it does not meet.
OUT_OF_FOLD, NOT_DRAWN = "fold", "sample"
OTHER_CORPUS = "other_corpus"
OTHER_REFERENCE = "other_reference"  # not all of the corpora that share references have it
OTHER_RANK = "other_rank"  # another pair of its reference was chosen, by rank
ALONE = "alone"  # a pair of two paraphrases was wanted, and its reference has only this one
WORDS = ("reference_words", "paraphrase_words")


Passes = Callable[[], Iterable[Pairs]]


def bounded(columns: Columns, bounds: dict[str, Any], mask: Mask, rejected: Counter[str]) -> None:
    """Drop the pairs of `mask` that are not within all bounds, and count them in `rejected`.

    A pair counts for the first column, in the order of `bounds`, whose bounds it does not meet. A
    pair without a value in a column does not meet its bounds.
    """
    for column, (low, high) in bounds.items():
        values = columns[column]
        within = ~np.isnan(values)
        # Compared as the float32 numbers that the columns hold: 0.7 is within [0, 0.7].
        within &= low is None or values >= np.float32(low)
        within &= high is None or values <= np.float32(high)
        rejected[column] += int(np.count_nonzero(mask & ~within))
        mask &= within


def require_values(passes: Passes, columns: Iterable[str]) -> None:
    """Check that each column has a value for some pair.

    A column without any value is not what the user meant, such as a paraphrase score by word
    vectors of another language: a training set that is chosen by it would have no pair.

    Args:
        passes: gives a pass over all pairs; it is read as far as needed.
        columns: their names.

    Raises:
        InputError: there are pairs, and a column has no value of any.
    """
    lacking, count = sorted(set(columns)), 0
    for pairs in passes():
        count += len(pairs.texts)
        lacking = [name for name in lacking if np.isnan(pairs.columns[name]).all()]
        if not lacking:
            return
    if count and lacking:
        raise InputError(
            f"{', '.join(lacking)}: none of the {count:,} pairs has a value in this column; look "
            "at the model or the file of word vectors behind it, or choose by another column (a "
            "classifier with negatives gives the references that it learnt from no value: it needs "
            "more of them)"
        )


class Chosen(NamedTuple):
    """The pairs that are chosen of a batch, and why the others are not.

    Attributes:
        pairs: all of them.
        rows: of the chosen ones, shape (chosen, 1): a reference with its paraphrase; or shape
            (chosen, 2): the paraphrases of two rows.
        rejected: counts of the other rows, by reason.
    """

    pairs: Pairs
    rows: NDArray[np.int64]
    rejected: Counter[str]


class TrainingSet:
    """The pairs that a training set's settings choose."""

    def __init__(self, passes: Passes, settings: dict[str, Any], shared: Keys | None = None):
        """Find the ends of folds and sample.

        Args:
            passes: gives a new pass over all pairs at each call.
            settings: as `training_sets` gives them.
            shared: the keys of the only references that are taken; None: of all.
        """
        self._passes, self._settings, self._shared = passes, settings, shared
        folds = settings["folds"]
        # A pair without a value is in no fold.
        self._before: dict[str, Any] = {folds["column"]: (None, None)} if folds else {}
        self._after: dict[str, Any] = {}
        if settings.get("first") == "folds":
            self._after = settings["bounds"]
        else:
            self._before |= settings["bounds"]
        self._before, self._after = (
            dict(sorted(bounds.items())) for bounds in (self._before, self._after)
        )
        corpora = settings.get("corpora")
        self._corpora = None if corpora is None else pa.array(corpora)
        self._folds = Folds(self._ranked, folds["of"]) if folds else None
        ranks = settings.get("ranks")
        self._ranks: list[int] = [ranks] if isinstance(ranks, int) else ranks or []
        self._last: list[Place] = []
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
            yield pairs.columns[column][self._first(pairs, Counter())]

    def _first(self, pairs: Pairs, rejected: Counter[str]) -> Mask:
        """Return which pairs are of the corpora, and within the bounds that come before folds."""
        mask = np.ones(len(pairs.texts), bool)
        if self._corpora is not None:
            names = corpora_of(pairs.texts.column("id"))
            mask = pc.is_in(names, self._corpora).to_numpy(zero_copy_only=False)
            rejected[OTHER_CORPUS] = int(np.count_nonzero(~mask))
        if self._shared is not None:
            known = among(keys_of(pairs.texts.column("reference")), self._shared)
            rejected[OTHER_REFERENCE] = int(np.count_nonzero(mask & ~known))
            mask &= known
        bounded(pairs.columns, self._before, mask, rejected)
        return mask

    def _places(self, weigh: bool) -> Iterator[tuple[Place, int]]:
        for pairs, chosen, _ in self._candidates(self._passes()):
            sides = WORDS if chosen.shape[1] == 1 else (WORDS[1], WORDS[1])
            first, second = (pairs.columns[side] for side in sides)
            for rows in chosen:
                words = int(first[rows[0]] + second[rows[-1]])
                yield self._place(pairs, rows[0]), words if weigh else 1

    def _place(self, pairs: Pairs, row: int) -> Place:
        identifier = pairs.texts.column("id")[int(row)].as_py()
        # Sets of other ranks draw the same references as that of the best.
        rank = 1 if self._ranks else int(pairs.columns["rank"][row])
        if self._shared is None:
            return place(self._settings["seed"], identifier, rank)
        # The corpora have other ids for the references that they share.
        reference = pairs.texts.column("reference")[int(row)].as_py()
        return place(self._settings["seed"], identifier, rank, letters_and_digits(reference))

    def _candidates(self, pairs: Iterable[Pairs]) -> Iterator[Chosen]:
        """Yield what bounds, folds and ranks leave for the sample."""
        fold_of = self._folds.stream() if self._folds else None
        for batch in whole_references(pairs) if self._ranks else pairs:
            rejected = Counter[str]()
            mask = self._first(batch, rejected)
            if fold_of:
                ranked = np.flatnonzero(mask)
                values = batch.columns[self._settings["folds"]["column"]][ranked]
                inside = np.isin(fold_of(values), self._settings["folds"]["keep"])
                mask[ranked[~inside]] = False
                rejected[OUT_OF_FOLD] = int(np.count_nonzero(~inside))
            bounded(batch.columns, self._after, mask, rejected)
            rows = np.flatnonzero(mask)
            if not self._ranks:
                yield Chosen(batch, rows[:, None], rejected)
                continue
            chosen = at_ranks(batch.texts.column("id"), rows, self._ranks)
            if len(self._ranks) > 1:
                alone = chosen[:, 0] == chosen[:, 1]
                rejected[ALONE] = int(np.count_nonzero(alone))
                chosen = chosen[~alone]
            rejected[OTHER_RANK] = len(rows) - len(chosen) - rejected[ALONE]
            yield Chosen(batch, chosen, rejected)

    def choose(self, pairs: Iterable[Pairs]) -> Iterator[Chosen]:
        """Yield what is chosen in one more pass."""
        for batch, rows, rejected in self._candidates(pairs):
            if not self._last:
                yield Chosen(batch, rows, rejected)
                continue
            last = min(self._last)
            drawn = np.array([self._place(batch, row[0]) <= last for row in rows], bool)
            rejected[NOT_DRAWN] = int(np.count_nonzero(~drawn))
            yield Chosen(batch, rows[drawn], rejected)


def training_pairs(texts: pa.RecordBatch, rows: NDArray[np.int64]) -> pa.RecordBatch:
    """Return the pairs of some rows in the schema of a training set; `rows` as in `Chosen`."""
    chosen = texts.take(pa.array(rows[:, 0]))
    if rows.shape[1] == 1:
        return chosen
    columns = {
        "id": chosen.column("id"),
        "reference": chosen.column("paraphrase"),
        "paraphrase": texts.column("paraphrase").take(pa.array(rows[:, 1])),
    }
    return pa.record_batch(columns)


def write_training_set(
    config: dict[str, Any],
    folder: Path,
    shards: int,
    output: Path,
    values: dict[str, Path] | None = None,
    shared: dict[str, int] | None = None,
) -> None:
    """Choose a training set among the pairs of a system.

    Args:
        config: of the training set, as `training_sets` gives it.
        folder: with `pair_columns` shards.
        output: the training set (Parquet); its record stands beside it.
        values: a folder with `pair_values` shards for each column that a model computed.
        shared: folders as the first, and how many shards each has: only references that all of
            these have are taken.

    Raises:
        InputError: a column that it is chosen by has no value of any pair, the folders share no
            reference, or a file is damaged.
    """
    paths = shard_paths(folder, shards)
    rows = Input(paths, PairColumnsRow).count()
    others = verified_values(values or {}, shards)
    needed = columns_of(config)
    names = sorted({"rank", *WORDS, *(set(needed) - others.keys())})

    def passes() -> Iterator[Pairs]:
        return read_pairs(paths, others, names, ["id", *(["reference"] if shared else [])])

    require_values(passes, needed)
    chosen = TrainingSet(passes, config, in_common(shared) if shared else None)
    texts = ["id", "reference", "paraphrase"]
    pairs = read_pairs(paths, others, names, texts)
    tally = Tally()

    def within(pairs: Iterator[Pairs]) -> Iterator[pa.RecordBatch]:
        for batch, rows, why in chosen.choose(pairs):
            tally.rejected += why
            yield training_pairs(batch.texts, rows)

    write_shard(
        Stream(pairs, rows, lambda batch: len(batch.texts)),
        within,
        output,
        TrainingPairRow,
        "training set",
        tally,
    )


main = command(write_training_set, __name__)
