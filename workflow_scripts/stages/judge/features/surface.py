"""How much of the reference's surface the paraphrase keeps, its marks among it."""

from collections import Counter
from functools import partial
from unicodedata import category

from rapidfuzz.distance import Levenshtein

from workflow_scripts.core.text.normalisation import words
from workflow_scripts.core.text.text_tokens import tokens
from workflow_scripts.stages.judge.features.feature import Feature, Models
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs, numbers_of

_ASKING = "?？؟"
_ENDS = f".!…。！।{_ASKING}"
# What may stand behind the end, or before it.
_AROUND = " \t'\"’”»“)]"
_PAIRED = (("(", ")"), ("[", "]"), ("“„", "”"))
# Dashes, quotes, currencies; and marks within a sentence.
_FREE = ("Pd", "Pi", "Pf", "Sc")
_FREE_SIGNS = frozenset(f"'\"„,;:%¿¡،、，：；·{_ENDS}")


def overlap(reference: str, paraphrase: str, order: int) -> float:
    """Return the shared n-grams of words as a share of the shorter side's; 0 if it has none.

    As the columns of `filter` of this name (BT17 5.7, PNMT 5.4).
    """
    first, second = (_ngrams(words(text), order) for text in (reference, paraphrase))
    shorter = min(first.total(), second.total())
    return (first & second).total() / shorter if shorter else 0.0


def _ngrams(items: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(items[start:] for start in range(order)), strict=False))


def changed_marks(reference: str, paraphrase: str) -> int:
    """Return how many marks of the paraphrase the reference does not warrant.

    These are: the end, if one side alone asks (?), or one side alone has a mark there; brackets
    and quotes without their other half, beyond those of the reference; each kind of bracket or sign
    (/, &, *, = ...) that the reference lacks. Commas, points, dashes, quotes, apostrophes,
    currencies and % are free.
    """
    ends = _end(reference) != _end(paraphrase)
    halves = max(0, _halves(paraphrase) - _halves(reference))
    return ends + halves + len(_signs(paraphrase) - _signs(reference))


def _end(sentence: str) -> str:
    """Return `?`, or `.` for any other mark at the end, or nothing."""
    last = sentence.rstrip(_AROUND)[-1:] or " "
    return "" if last not in _ENDS else "?" if last in _ASKING else "."


def _halves(sentence: str) -> int:
    """Return how many brackets and quotes lack their other half."""
    count = sentence.count
    pairs = sum(abs(sum(map(count, left)) - count(right)) for left, right in _PAIRED)
    return pairs + count('"') % 2


def _signs(sentence: str) -> set[str]:
    return {
        sign
        for sign in sentence
        if category(sign)[0] in "PS" and category(sign) not in _FREE and sign not in _FREE_SIGNS
    }


def _changed_marks(pairs: Pairs, _: Models) -> Numbers:
    return numbers_of(pairs, changed_marks)


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
    Feature("changed_marks", _changed_marks),
)
