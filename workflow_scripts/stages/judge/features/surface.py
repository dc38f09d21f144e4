"""How much of the reference's surface the paraphrase keeps, its marks among it."""

from collections import Counter
from functools import partial
from unicodedata import category

from rapidfuzz.distance import Levenshtein

from workflow_scripts.core.text.normalisation import words
from workflow_scripts.core.text.text_tokens import tokens
from workflow_scripts.stages.judge.features.feature import of_texts

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


def edit_distance(reference: str, paraphrase: str) -> float:
    """Return how much of the tokens, in lower case, is edited: from 0 to 1."""
    first, second = ([token.lower() for token in tokens(text)] for text in (reference, paraphrase))
    return Levenshtein.normalized_distance(first, second)


def length_ratio(reference: str, paraphrase: str) -> float:
    """Return the words of the paraphrase for each of the reference; NaN where that has none."""
    length = len(words(reference))
    return len(words(paraphrase)) / length if length else float("nan")


FEATURES = (
    of_texts("length_ratio", length_ratio),
    *(of_texts(f"overlap_{order}", partial(overlap, order=order)) for order in (1, 2, 3)),
    of_texts("edit_distance", edit_distance),
    of_texts("words", lambda reference, _: len(words(reference))),
    of_texts("changed_marks", changed_marks),
)
