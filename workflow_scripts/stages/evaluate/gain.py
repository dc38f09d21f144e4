"""What a system gives: how many paraphrases, how many different ones, how many good ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.files.rows import Paraphrase
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.statistics.bootstrap import interval, resampled
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.evaluate.diversity import ORDERS, one_minus_bleu
from workflow_scripts.stages.score.near_doubles import same_content, word_changes

# How far a judge's log-odds are off on another kind of text or another system's paraphrases: a
# standard deviation, chosen so that intervals hold the labelled share (reports/judge.md).
_OTHER_TEXT = 0.35
# No share is told to be nearer to 0 or 1.
_LEAST = 1e-6


class Gain:
    """Running counts over the paraphrases of references."""

    def __init__(self, language: str) -> None:
        """Count texts of a language (ISO 639)."""
        self._language = language
        self._paraphrases = self._different = self._changed = 0
        self._bleu: NDArray[np.int64] = np.zeros((2, ORDERS), np.int64)
        # By bootstrap block: the sum of the judge's probabilities, and how many there are.
        self._blocks: dict[int, NDArray[np.float64]] = {}

    def add(
        self,
        reference: str,
        listed: Sequence[Paraphrase],
        counts: Sequence[NDArray[np.int64]],
        block: int,
    ) -> None:
        """Count one reference.

        Args:
            reference: its text.
            listed: its paraphrases, one at least.
            counts: of each paraphrase, what its BLEU is computed of, shape (2, `ORDERS`).
            block: the bootstrap block that the reference belongs to.
        """
        texts = [paraphrase["text"] for paraphrase in listed]
        self._paraphrases += len(texts)
        self._different += len({same_content(text, self._language) for text in texts})
        changes = (word_changes(reference, text, self._language) for text in texts)
        self._changed += sum(map(any, changes))
        self._bleu += np.sum(counts, axis=0)
        known = [each["probability"] for each in listed if each["probability"] is not None]
        if known:
            sums = self._blocks.setdefault(block, np.zeros(2))
            sums += sum(known), len(known)

    def merge(self, other: "Gain") -> None:
        """Add the counts of other references."""
        self._paraphrases += other._paraphrases
        self._different += other._different
        self._changed += other._changed
        self._bleu += other._bleu
        for block, sums in other._blocks.items():
            self._blocks[block] = self._blocks.get(block, 0) + sums

    def result(self, samples: int, seed: int) -> dict[str, Any]:
        """Return the counts, 1-BLEU and the expected share of good ones (x 100) with its interval.

        The share is the mean of a judge's probabilities, None without one.
        """
        expected = None
        if self._blocks:
            blocks = np.stack([self._blocks[block] for block in sorted(self._blocks)])
            expected = expected_share(blocks, samples, seed)
        bleu = one_minus_bleu(self._bleu) if self._paraphrases else None
        return {
            "paraphrases": self._paraphrases,
            "different": self._different,
            "changed": self._changed,
            "one_minus_bleu": None if bleu is None else round(float(bleu), DECIMALS),
            "expected_good": expected,
        }


def expected_share(blocks: NDArray[np.float64], samples: int, seed: int) -> dict[str, float]:
    """Return the expected share of good paraphrases (x 100), with a 95 % interval.

    The interval is that of other references, and of a judge that is off on this kind of text.

    Args:
        blocks: shape (blocks, 2): the sum of the probabilities of each block, and their number.
        samples: bootstrap samples to draw.
        seed: of the draws.
    """
    drawn = np.concatenate(list(resampled(blocks, samples, seed)))
    shares = np.clip(drawn[:, 0] / drawn[:, 1], _LEAST, 1 - _LEAST)
    off = generator(seed, "judge").normal(0, _OTHER_TEXT, len(shares))
    odds = shares / (1 - shares) * np.exp(off)
    total, judged = blocks.sum(axis=0)
    return {
        "share": round(100 * float(total / judged), DECIMALS),
        **interval(100 * odds / (1 + odds)),
    }
