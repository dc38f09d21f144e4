"""How much of the reference's surface the paraphrase keeps."""

from collections import Counter
from functools import partial

from rapidfuzz.distance import Levenshtein

from workflow_scripts.core.text.normalisation import words
from workflow_scripts.core.text.text_tokens import tokens
from workflow_scripts.stages.judge.features.feature import Feature, Models
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs, numbers_of


def overlap(reference: str, paraphrase: str, order: int) -> float:
    """Return the shared n-grams of words as a share of the shorter side's; 0 if it has none.

    As the columns of `filter` of this name (BT17 5.7, PNMT 5.4).
    """
    first, second = (_ngrams(words(text), order) for text in (reference, paraphrase))
    shorter = min(first.total(), second.total())
    return (first & second).total() / shorter if shorter else 0.0


def _ngrams(items: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(items[start:] for start in range(order)), strict=False))


def _overlap(order: int, pairs: Pairs, _: Models) -> Numbers:
    return numbers_of(pairs, lambda first, second: overlap(first, second, order))


def _edit_distance(pairs: Pairs, _: Models) -> Numbers:
    return numbers_of(
        pairs,
        lambda first, second: Levenshtein.normalized_distance(
            [token.lower() for token in tokens(first)], [token.lower() for token in tokens(second)]
        ),
    )


def _length_ratio(pairs: Pairs, _: Models) -> Numbers:
    def ratio(reference: str, paraphrase: str) -> float:
        length = len(words(reference))
        return len(words(paraphrase)) / length if length else float("nan")

    return numbers_of(pairs, ratio)


def _words(pairs: Pairs, _: Models) -> Numbers:
    return numbers_of(pairs, lambda reference, _: len(words(reference)))


FEATURES = (
    Feature("length_ratio", _length_ratio),
    *(Feature(f"overlap_{order}", partial(_overlap, order)) for order in (1, 2, 3)),
    Feature("edit_distance", _edit_distance),
    Feature("words", _words),
)
