"""How much paraphrases differ from their references in words (ParaBank 2, 3.6).

How each measure is defined: docs/architecture.md, "Measures".

A comparison has a first sentence, which BLEU calls the reference, and a second one, which BLEU
calls the hypothesis. The first is the reference, or the paraphrase of the better rank; the second
is the paraphrase.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU, MAX_NGRAM_ORDER

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.files.parallel import read_pairs
from workflow_scripts.core.progress import progress
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.core.text.piece_spelling import WORD_MARK
from workflow_scripts.stages.subword.segmenter import Segmenter

ORDERS = MAX_NGRAM_ORDER
# Its statistics of two sentences; its public functions score these too, for twice the time.
_BLEU = BLEU(tokenize="none")


@dataclass(frozen=True)
class Sentence:
    """What the measures need of a sentence: counted once, compared many times.

    Attributes:
        text: its words with a blank between two of them.
        bags: its words, and its pieces where a model is given, as multisets.
    """

    text: str
    bags: dict[str, Counter[str]] = field(default_factory=dict)

    @cached_property
    def ngrams(self) -> dict[str, Any]:
        """What sacrebleu counts of a reference: its n-grams of 1 to 4 words."""
        return _BLEU._extract_reference_info([self.text])


def sentence(text: str, segmenter: Segmenter | None = None) -> Sentence:
    """Count the words of `text`, and its pieces if there is a segmenter.

    Pieces are those of the text as it stands. Each then loses the mark of a word's beginning and
    its punctuation, and is lower-cased (ParaBank 2, 3.6); where nothing is left, it does not count.
    """
    tokens = words(text)
    bags = {"words": Counter(tokens)}
    if segmenter is not None:
        pieces = (words(piece.replace(WORD_MARK, "")) for piece in segmenter.pieces(text))
        bags["pieces"] = Counter(chain.from_iterable(pieces))
    return Sentence(" ".join(tokens), bags)


def bleu_counts(first: Sentence, second: Sentence) -> NDArray[np.int64]:
    """Return shape (2, 4): the second sentence's clipped matches, and its n-grams, by order."""
    _, _, *counts = _BLEU._compute_segment_statistics(second.text, first.ngrams)
    return np.array(counts).reshape(2, ORDERS)


def one_minus_bleu(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return 100 - BLEU of summed `bleu_counts`, shape (..., 2, 4) -> (...).

    No brevity penalty and no smoothing: where an order has no match, or no n-gram at all, BLEU
    is 0 and the result 100.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(counts[..., 0, :]) - np.log(np.maximum(counts[..., 1, :], 1))
    return 100.0 * (1.0 - np.exp(logs.mean(axis=-1)))


@dataclass
class Overlap:
    """Running means over lines of two sentences' intersection/union and length ratio.

    Attributes:
        intersection_over_union: of the sets of both sentences' tokens (ParaBank 2, 3.6).
        intersection_over_union_bags: of the multisets.
        length_ratio: the second sentence's number of tokens over the first one's.
    """

    pairs: int = 0
    intersection_over_union: float = 0.0
    intersection_over_union_bags: float = 0.0
    ratios: int = 0
    length_ratio: float = 0.0

    def add(self, first: Sentence, second: Sentence, bag: str) -> None:
        """Count one pair of sentences by their tokens of one kind: `words` or `pieces`.

        In a multiset a repeated token counts as often as it stands there, in a set once. Two
        sentences without tokens are equal: their intersection/union is 1. If only the first has
        none, the pair has no length ratio and stays out of its mean.
        """
        one, other = first.bags[bag], second.bags[bag]
        shared = sum(min(count, one[token]) for token, count in other.items() if token in one)
        first_length, second_length = one.total(), other.total()
        union = first_length + second_length - shared
        self.pairs += 1
        self.intersection_over_union_bags += shared / union if union else 1.0
        different, both = one.keys() | other.keys(), one.keys() & other.keys()
        self.intersection_over_union += len(both) / len(different) if different else 1.0
        if first_length:
            self.ratios += 1
            self.length_ratio += second_length / first_length

    def merge(self, other: "Overlap") -> None:
        """Add the sums of other pairs."""
        self.pairs += other.pairs
        self.intersection_over_union += other.intersection_over_union
        self.intersection_over_union_bags += other.intersection_over_union_bags
        self.ratios += other.ratios
        self.length_ratio += other.length_ratio

    def result(self) -> dict[str, float | None]:
        """Return the means, intersection/union x 100; None if no pair has the measure."""
        return {
            "intersection_over_union": mean(100.0 * self.intersection_over_union, self.pairs),
            "intersection_over_union_bags": mean(
                100.0 * self.intersection_over_union_bags, self.pairs
            ),
            "length_ratio": mean(self.length_ratio, self.ratios),
        }


def mean(total: float, count: int) -> float | None:
    """Return `total / count`, rounded for JSON; None if the count is 0."""
    return round(total / count, DECIMALS) if count else None


@dataclass
class Comparison:
    """Running sums of one comparison over a corpus."""

    pairs: int = 0
    bleu: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, ORDERS), dtype=np.int64))
    overlaps: dict[str, Overlap] = field(default_factory=dict)

    def add(self, first: Sentence, second: Sentence) -> NDArray[np.int64]:
        """Count one pair; return its own `bleu_counts`."""
        counts = bleu_counts(first, second)
        self.pairs += 1
        self.bleu += counts
        for bag in first.bags:
            self.overlaps.setdefault(bag, Overlap()).add(first, second, bag)
        return counts

    def merge(self, other: "Comparison") -> None:
        """Add the sums of other pairs."""
        self.pairs += other.pairs
        self.bleu += other.bleu
        for bag, overlap in other.overlaps.items():
            self.overlaps.setdefault(bag, Overlap()).merge(overlap)

    def result(self) -> dict[str, Any]:
        """Return `pairs`, `one_minus_bleu` (None without pairs) and the overlaps by bag."""
        bleu = round(float(one_minus_bleu(self.bleu)), DECIMALS) if self.pairs else None
        return {
            "pairs": self.pairs,
            "one_minus_bleu": bleu,
            **{bag: overlap.result() for bag, overlap in self.overlaps.items()},
        }


def diversity(
    pairs: Iterable[tuple[str, str]], segmenter: Segmenter | None = None
) -> dict[str, float | int | None]:
    """Return the measures of (reference, paraphrase) pairs, as Table 1 of ParaBank 2 has them.

    BLEU always counts words; the others count pieces if there is a segmenter.
    """
    bag = "words" if segmenter is None else "pieces"
    comparison = Comparison()
    for reference, paraphrase in pairs:
        comparison.add(sentence(reference, segmenter), sentence(paraphrase, segmenter))
    result = comparison.result()
    return {key: result[key] for key in ("pairs", "one_minus_bleu")} | result.get(bag, {})


def main(argv: list[str] | None = None) -> None:
    """Print the diversity of paraphrases, one sentence a line, as one JSON object."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--references", type=Path, required=True, metavar="REF.txt")
    parser.add_argument("--paraphrases", type=Path, required=True, metavar="PARA.txt")
    parser.add_argument(
        "--pieces",
        type=Path,
        metavar="SPM.model",
        help="take intersection/union (sets: pieces without the mark of a word) and length ratio "
        "on the pieces of this SentencePiece model",
    )
    arguments = parser.parse_args(argv)
    segmenter = Segmenter(arguments.pieces) if arguments.pieces else None
    pairs = progress(read_pairs(arguments.references, arguments.paraphrases), desc="diversity")
    print(json.dumps(diversity(pairs, segmenter)))


if __name__ == "__main__":
    run(main)
