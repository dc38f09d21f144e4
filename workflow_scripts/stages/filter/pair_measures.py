"""Overlap and BLEU of single pairs, for many pairs at once.

The reference plays BLEU's reference, and the paraphrase its hypothesis. BLEU is from 0 to 100,
everything else from 0 to 1.
"""

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.stages.filter.ngrams import Counts
from workflow_scripts.stages.filter.token_numbers import Tokens

# sacrebleu's smoothing methods with the values that it uses by default.
SACREBLEU = {"exp": None, "floor": 0.1, "add-k": 1, "none": None}
# sacrebleu's logarithm of zero.
_LOG_ZERO = -9999999999.0

Floats = NDArray[np.float64]


def overlap(counts: Counts, order: int) -> Floats:
    """Return the shared n-grams as a share of the shorter side's; 0 if it has none (BT17 5.7)."""
    shared = counts.shared[:, order - 1]
    shorter = np.minimum(counts.first, counts.second)[:, order - 1]
    return shared / np.maximum(shorter, 1)


def intersection_over_union(first: Tokens, second: Tokens) -> Floats:
    """Return it for the sets of words of both sides (PB2 3.6); 1 if neither has a word."""
    size = int(max(first.ids.max(initial=0), second.ids.max(initial=0))) + 1
    pairs = len(first.lengths)

    def different(side: Tokens) -> NDArray[np.int64]:
        return np.unique(np.repeat(np.arange(pairs) * size, side.lengths) + side.ids)

    def count(keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(keys // size, minlength=pairs)

    one, other = different(first), different(second)
    shared = count(np.intersect1d(one, other, assume_unique=True))
    return _share(shared, count(one) + count(other) - shared)


def intersection_over_union_bags(counts: Counts) -> Floats:
    """Return it for the words of both sides as multisets; 1 if neither has a word."""
    shared = counts.shared[:, 0]
    return _share(shared, counts.first[:, 0] + counts.second[:, 0] - shared)


def _share(shared: NDArray[np.int64], union: NDArray[np.int64]) -> Floats:
    return np.where(union > 0, shared / np.maximum(union, 1), 1.0)


def bleu_nakov(counts: Counts) -> Floats:
    """Return BLEU with one added to matches and n-grams of all orders, and to the reference length.

    Nakov, Guzmán and Vogel (2012), section 5: smoothing all orders, and the brevity penalty with
    them, keeps the balance of precision and length. 0 where the paraphrase has no word.
    """
    logs = np.log((counts.shared + 1) / (counts.second + 1)).mean(axis=1)
    length = counts.second[:, 0]
    penalty = np.minimum(1 - (counts.first[:, 0] + 1) / np.maximum(length, 1), 0)
    return np.where(length > 0, 100 * np.exp(logs + penalty), 0.0)


def sacrebleu(counts: Counts, method: str) -> Floats:
    """Return what `sacrebleu.sentence_bleu` returns, from counts of its tokens.

    Args:
        counts: of tokens by sacrebleu's tokeniser.
        method: one of `SACREBLEU`, with its default value and effective order.
    """
    shared, total = counts.shared.astype(float), counts.second.astype(float)
    if method == "add-k":
        shared[:, 1:] += SACREBLEU[method]
        total[:, 1:] += SACREBLEU[method]
    used = np.logical_and.accumulate(total > 0, axis=1)
    missed = used & (shared == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        precisions = shared / total
        if method == "exp":
            precisions = np.where(missed, 0.5 ** missed.cumsum(axis=1) / total, precisions)
        elif method == "floor":
            precisions = np.where(missed, SACREBLEU[method] / total, precisions)
        logs = np.where(precisions > 0, np.log(100 * precisions), _LOG_ZERO)
        order = np.maximum(used.sum(axis=1), 1)
        mean = np.where(used, logs, 0.0).sum(axis=1) / order
        length = counts.second[:, 0]
        penalty = np.where(length > 0, np.minimum(1 - counts.first[:, 0] / length, 0), 0.0)
    return np.where(counts.shared.any(axis=1), np.exp(mean + penalty), 0.0)
