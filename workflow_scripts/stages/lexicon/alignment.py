"""Word alignment of two sentences of one language that mean the same.

What stands in both sentences is aligned with itself: there is no need to learn it. What is left is
aligned by what is learnt from many pairs: the lexical translation probabilities of IBM model 1
(Brown et al., 1993) with the prior for the diagonal of Dyer et al. (2013), in both directions at
once, whose posteriors are multiplied while learning and aligning (alignment by agreement, Liang et
al., 2006). As both sides are one language, both directions share their counts.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.stages.lexicon.texts import OTHER, PAD, UNKNOWN, WORD_BITS, Pairs
from workflow_scripts.stages.lexicon.together import word_pair

Links = NDArray[np.int16]
Keys = NDArray[np.int64]
Weights = NDArray[np.float32]

# How much the prior falls with the distance from the diagonal, and the share of words without a
# partner: both as in fast_align (Dyer et al., 2013).
TENSION, NULL = 4.0, 0.08
# This many counts without a partner are added to those of a word: rare words are sure of nothing.
DOUBT = 1.0
ITERATIONS = 5
# Links less probable than this, in both directions together, are not set.
LEAST = 0.1


class Cells(NamedTuple):
    """Each word that the other sentence lacks, beside each such word of the other sentence.

    Attributes:
        pair: the number of the pair, shape (cells,), as all that follow.
        first: the place of the word in the first sentence.
        second: that in the second one.
        one: the word in the first sentence; 0: one that is not known.
        other: that in the second one.
        row: a number for each word of the first sentences.
        column: a number for each word of the second ones.
        of_row: the prior of the word in the first sentence to be the partner of the other one.
        of_column: that of the word in the second one.
    """

    pair: NDArray[np.int32]
    first: NDArray[np.int16]
    second: NDArray[np.int16]
    one: NDArray[np.int32]
    other: NDArray[np.int32]
    row: NDArray[np.int32]
    column: NDArray[np.int32]
    of_row: NDArray[np.float32]
    of_column: NDArray[np.float32]

    @property
    def keys(self) -> Keys:
        """The two words of each cell as one number."""
        return word_pair(self.one.astype(np.int64), self.other.astype(np.int64))


class Table:
    """How often words are expected to be aligned with other words.

    Attributes:
        keys: two words each, as `word_pair` has them, in rising order.
        counts: of their alignments.
        totals: of each word, by its number.
    """

    def __init__(self, keys: Keys, counts: Weights, words: int):
        """Sum up the totals; `words` are known."""
        self.keys, self.counts = keys, counts
        mask = (1 << WORD_BITS) - 1
        totals = np.bincount(keys >> WORD_BITS, counts, minlength=words + 1)
        totals += np.bincount(keys & mask, counts, minlength=words + 1)
        self.totals = totals.astype(np.float32)


def _mutual(scores: NDArray[np.float32]) -> Links:
    """Return the place of each row's best column if the row is that column's best, else -1.

    Scores have the shape (pairs, rows, columns); those of 0 and less don't count.
    """
    best, back = scores.argmax(axis=2), scores.argmax(axis=1)
    mutual = np.take_along_axis(scores, best[:, :, None], axis=2)[:, :, 0] > 0
    mutual &= np.take_along_axis(back, best, axis=1) == np.arange(scores.shape[1])[None, :]
    return np.where(mutual, best, -1).astype(np.int16)


def same_words(pairs: Pairs) -> Links:
    """Return which token of the second sentence equals each token of the first; -1: none.

    Shape (pairs, tokens of the first). Of several equal tokens that one is taken whose neighbours
    are equal too, and then the nearest.
    """
    first, second = pairs
    same = first[:, :, None] == second[:, None, :]
    scores = same.astype(np.float32)
    scores[:, 1:, 1:] += 0.5 * same[:, :-1, :-1]
    scores[:, :-1, :-1] += 0.5 * same[:, 1:, 1:]
    scores -= 0.25 * _distance(pairs)
    scores[~same] = 0
    links = _mutual(scores)
    pair, row = np.nonzero(links >= 0)
    scores[pair, row] = 0
    scores[pair, :, links[pair, row]] = 0
    rest = _mutual(scores)
    return np.where(links >= 0, links, rest)


def _distance(pairs: Pairs) -> NDArray[np.float32]:
    """Return how far apart the places of two tokens are, each as a share of its sentence."""
    places = []
    for side, tokens in enumerate(pairs):
        lengths = np.maximum(1, np.count_nonzero(tokens != PAD[side], axis=1))
        where = np.arange(tokens.shape[1], dtype=np.float32)[None, :] + 0.5
        places.append((where / lengths[:, None]).astype(np.float32))
    return np.abs(places[0][:, :, None] - places[1][:, None, :])


def cells(pairs: Pairs, links: Links) -> Cells:
    """Return the words that are left when equal ones are linked, each beside each."""
    first, second = pairs
    taken = np.zeros(second.shape, bool)
    pair, row = np.nonzero(links >= 0)
    taken[pair, links[pair, row]] = True
    left = (links < 0) & (first >= 0) & (first < OTHER)
    right = ~taken & (second >= 0) & (second < OTHER)
    pair, row, column = np.nonzero(left[:, :, None] & right[:, None, :])
    near = np.exp(-TENSION * _distance(pairs)[pair, row, column])
    rows = pair * first.shape[1] + row
    columns = pair * second.shape[1] + column
    words = (first[pair, row], second[pair, column])
    one, other = (np.where(numbers < UNKNOWN, numbers, 0) for numbers in words)
    of_row, of_column = (
        ((1 - NULL) * near / np.bincount(group, near)[group]).astype(np.float32)
        for group in (columns, rows)
    )
    return Cells(
        pair.astype(np.int32),
        row.astype(np.int16),
        column.astype(np.int16),
        one,
        other,
        rows.astype(np.int32),
        columns.astype(np.int32),
        of_row,
        of_column,
    )


def joined(parts: list[Cells]) -> Cells:
    """Return the cells of several batches as those of one."""
    start = dict.fromkeys(("pair", "row", "column"), 0)
    moved = []
    for part in parts:
        moved.append(part._replace(**{name: getattr(part, name) + start[name] for name in start}))
        for name in start:
            start[name] += int(getattr(part, name).max(initial=-1)) + 1
    return Cells(*map(np.concatenate, zip(*moved, strict=True)))


def posteriors(candidates: Cells, table: Table) -> Weights:
    """Return how probable the link of each cell is, in both directions together: their product."""
    keys = candidates.keys
    if not len(table.keys):
        return np.zeros(len(keys), np.float32)
    places = np.minimum(np.searchsorted(table.keys, keys), len(table.keys) - 1)
    counts = np.where(table.keys[places] == keys, table.counts[places], 0)
    return _agreed(candidates, counts.astype(np.float32), table.totals)


def _agreed(candidates: Cells, counts: Weights, totals: Weights) -> Weights:
    """Return the posteriors; `counts` are those of the cells' words."""
    share = totals / max(float(totals.sum()), 1.0)
    agreed = np.ones(len(counts), np.float32)
    for word, partner, prior, group in (
        (candidates.one, candidates.other, candidates.of_row, candidates.column),
        (candidates.other, candidates.one, candidates.of_column, candidates.row),
    ):
        weights = prior * counts / (totals[word] + DOUBT)
        none = NULL * share[partner]
        sums = np.bincount(group, weights)[group] + none
        agreed *= np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return agreed


def learnt(candidates: Cells, words: int) -> Table:
    """Learn from cells how often words are aligned."""
    keys, places = np.unique(candidates.keys, return_inverse=True)

    def counted(weights: Weights) -> Table:
        counts = np.bincount(places, weights, minlength=len(keys))
        return Table(keys, counts.astype(np.float32), words)

    table = counted(candidates.of_row * candidates.of_column)
    for _ in range(ITERATIONS):
        table = counted(_agreed(candidates, table.counts[places], table.totals))
    return table


def aligned(pairs: Pairs, table: Table) -> Links:
    """Return the partner of each token of the first sentences; -1: it has none."""
    links = same_words(pairs)
    candidates = cells(pairs, links)
    probable = posteriors(candidates, table)
    # The most probable of each row and column; of equal ones the first.
    order = np.argsort(-probable, kind="stable")
    order = order[probable[order] >= LEAST]
    _, rows = np.unique(candidates.row[order], return_index=True)
    _, columns = np.unique(candidates.column[order], return_index=True)
    chosen = order[np.intersect1d(rows, columns)]
    links[candidates.pair[chosen], candidates.first[chosen]] = candidates.second[chosen]
    return links
