"""The distinct prefixes of targets that are decoded by force: each has to be computed only once.

The candidates of a source begin alike: 70 different samples have about half as many prefixes as
tokens. The products of a decoder's layers see prefixes one by one; only attention goes through
whole targets. Letters of shapes as in `blocks`; P counts prefixes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.nmt.vocabulary import BOS, EOS

Integers = NDArray[np.int64]
# No piece has this id.
_NOTHING = -1


class Places(NamedTuple):
    """Where prefixes stand in rows of equal length, which attention goes through.

    `prefix`: [rows, length], the prefix at each position, any at those that are left over; `first`:
    [P], a position of each prefix, counted row after row.
    """

    prefix: Integers
    first: Integers


class Labels(NamedTuple):
    """All tokens that targets consist of, ordered by prefix.

    Each is [tokens]: the `prefix` that a `token` follows, and the number of the `target`.
    """

    prefix: Integers
    token: Integers
    target: Integers


@dataclass(frozen=True)
class Prefixes:
    """The prefixes of B targets of S sources: <s>, then some of a target's first pieces, or all.

    Before <s> stands the lead of the model. Its own prefixes are among them.

    Attributes:
        sources: [P], the number of each prefix's source, ascending from 0.
        tokens: [P], the last token of each.
        positions: [P], how many tokens are before that.
        targets: where the prefixes stand in the targets, [B, T].
        lead: how many tokens stand before <s>.
    """

    sources: Integers
    tokens: Integers
    positions: Integers
    targets: Places
    lead: int = 0

    @classmethod
    def of(
        cls,
        targets: Sequence[Sequence[int]],
        sources: Sequence[int],
        lead: Sequence[int] = (),
    ) -> Self:
        """Return the prefixes of targets of piece ids, target after target.

        A target shares prefixes with the one before it, so they should be sorted. `sources` has the
        number of each one's source, ascending from 0 without a gap; `lead` is what stands before
        <s>.
        """
        tokens, valid = _padded([[*lead, BOS, *target] for target in targets])
        source = np.array(sources)
        same = tokens[1:] == tokens[:-1]
        same &= (source[1:] == source[:-1])[:, None]
        new = valid.copy()
        new[1:] &= ~np.logical_and.accumulate(same, axis=1)
        prefix = np.zeros(new.shape, dtype=np.int64)
        prefix[new] = np.arange(np.count_nonzero(new))
        # What is shared has the number that stands above it: the greatest of those before.
        np.maximum.accumulate(prefix, axis=0, out=prefix)
        row, position = new.nonzero()
        places = Places(prefix, np.flatnonzero(new))
        return cls(source[row], tokens[new], position, places, len(lead))

    @property
    def followed(self) -> Integers:
        """The numbers of the prefixes that a token of a target follows, ascending."""
        return np.flatnonzero(self.positions >= self.lead)

    def queries(self) -> tuple[Places, Integers]:
        """Arrange the prefixes source by source, in rows as long as those of the targets.

        Returns:
            The places, and the source of each row. There are no more rows than targets.
        """
        length = self.targets.prefix.shape[1]
        counts = np.bincount(self.sources)
        rows = -(-counts // length)
        # Every source begins a new row.
        skipped = np.cumsum(rows * length - counts) - (rows * length - counts)
        first = np.arange(len(self.sources)) + skipped[self.sources]
        prefix = np.zeros((rows.sum(), length), dtype=np.int64)
        prefix.ravel()[first] = np.arange(len(first))
        return Places(prefix, first), np.repeat(np.arange(len(rows)), rows)

    def labels(self, targets: Sequence[Sequence[int]]) -> Labels:
        """Return what follows the prefixes in the `targets` that these were made of.

        Only the prefixes of `followed` are counted.
        """
        tokens, valid = _padded([[*target, EOS] for target in targets])
        number = np.cumsum(self.positions >= self.lead) - 1
        prefix = number[self.targets.prefix[:, self.lead :][valid]]
        order = prefix.argsort(kind="stable")
        return Labels(prefix[order], tokens[valid][order], valid.nonzero()[0][order])


def _padded(sequences: list[list[int]]) -> tuple[Integers, NDArray[np.bool_]]:
    """Return tokens [B, T], filled up with what is no piece, and the mask of those that are."""
    lengths = np.array(list(map(len, sequences)))
    valid = np.arange(lengths.max()) < lengths[:, None]
    tokens = np.full(valid.shape, _NOTHING, dtype=np.int64)
    tokens[valid] = [token for sequence in sequences for token in sequence]
    return tokens, valid
