"""Exact precision and recall of a lexicon of the testbed, whose synonyms are known.

Two phrases are synonyms if the testbed's vocabulary says one value by both, in the same slot and
form: `bought`, `purchased`. Longer ones are if they fall into parts of which each is a synonym of
its counterpart, or the same word: `the teacher`, `the instructor`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.lexicon.measures_data import Pair
from workflow_scripts.testbed.lexical_slots import SURFACES, Value

# Words of a phrase of the lexicon, at most.
MOST_WORDS = 3
# So many of the best entries are looked at, and all.
CUTS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)

Meaning = tuple[str, Value]
Tokens = tuple[str, ...]


class Synonyms:
    """The synonyms of the testbed's vocabulary.

    Args:
        split: turns a phrase of the vocabulary into tokens, as the lexicon splits its texts.
    """

    def __init__(self, split: Callable[[str], Sequence[str]]) -> None:
        self._meanings: dict[Tokens, set[Meaning]] = defaultdict(set)
        self._phrases: dict[Meaning, set[Tokens]] = defaultdict(set)
        for category, values in SURFACES.items():
            for value, surfaces in values.items():
                for surface in surfaces:
                    phrase = tuple(split(" ".join(word for _, word in surface.words)))
                    if 0 < len(phrase) <= MOST_WORDS:
                        self._meanings[phrase].add((category, value))
                        self._phrases[category, value].add(phrase)

    def known(self, phrase: str) -> bool:
        """Tell whether all words of a phrase fall into phrases of the vocabulary."""
        words = _article(phrase)
        return any(all(part in self._meanings for part in parts) for parts in _segmentations(words))

    def same(self, phrase: str, paraphrase: str) -> bool:
        """Tell whether two phrases are synonyms, part by part."""
        return self._same(_article(phrase), _article(paraphrase))

    def _same(self, first: Tokens, second: Tokens) -> bool:
        if not first or not second:
            return not first and not second
        return any(
            (
                first[:one] == second[:other]
                or bool(self._of(first[:one]) & self._of(second[:other]))
            )
            and self._same(first[one:], second[other:])
            for one in range(1, len(first) + 1)
            for other in range(1, len(second) + 1)
        )

    def _of(self, phrase: Tokens) -> set[Meaning]:
        return self._meanings.get(phrase, set())

    def pairs(self) -> set[Pair]:
        """Return all ordered pairs of synonyms of the vocabulary."""
        return {
            (" ".join(one), " ".join(other))
            for phrases in self._phrases.values()
            for one in phrases
            for other in phrases
            if one != other
        }


def _article(phrase: str) -> Tokens:
    """Return the words of a phrase, with `a` for `an`: of two synonyms one may take `an`."""
    return tuple("a" if word == "an" else word for word in phrase.split())


def _segmentations(words: Tokens) -> Iterator[list[Tokens]]:
    if not words:
        yield []
    for size in range(1, len(words) + 1):
        for rest in _segmentations(words[size:]):
            yield [words[:size], *rest]


def occurring(
    synonyms: Iterable[Pair], texts: Iterable[tuple[Sequence[str], Sequence[str]]]
) -> tuple[set[Pair], set[Pair]]:
    """Return the synonyms whose phrases both occur in texts, and those that a pair aligns.

    Args:
        synonyms: ordered pairs of phrases.
        texts: the tokens of both sides of each pair of texts.

    Returns:
        The pairs whose phrases both occur somewhere; and those of which one phrase occurs on one
        side of a pair of texts, the other on the other side and on that side alone.
    """
    partners: dict[str, set[str]] = defaultdict(set)
    for first, second in synonyms:
        partners[first].add(second)
    seen: set[str] = set()
    aligned: set[Pair] = set()
    for sides in texts:
        one, other = ({phrase for phrase in _phrases(side) if phrase in partners} for side in sides)
        seen |= one | other
        for here, there in ((one, other), (other, one)):
            for phrase in here - there:
                aligned |= {(phrase, partner) for partner in partners[phrase] & (there - here)}
    both = {
        (first, second)
        for first, seconds in partners.items()
        if first in seen
        for second in seconds & seen
    }
    return both, aligned


def _phrases(tokens: Sequence[str]) -> Iterator[str]:
    for size in range(1, MOST_WORDS + 1):
        for start in range(len(tokens) - size + 1):
            yield " ".join(tokens[start : start + size])


def exact(
    entries: Iterable[tuple[Pair, float]],
    synonyms: Synonyms,
    both: set[Pair],
    aligned: set[Pair],
) -> dict[str, Any]:
    """Return precision and recall at each of `CUTS`, and over the whole lexicon.

    Args:
        entries: ordered pairs with their scores, best first; one that comes again does not count.
        synonyms: of the testbed.
        both: the synonyms whose phrases both occur in the texts.
        aligned: those that a pair of texts aligns.

    Returns:
        `occurring` and `aligned`, how many these are; and `cuts`: for each the `entries`, the
        `score` of the last one, `known` (entries of phrases of the vocabulary on both sides),
        `right`, `precision` of all entries, `precision_known` of the known ones, and the share of
        both sets of synonyms that is among the entries: `recall`, `recall_aligned`.
    """
    seen: set[Pair] = set()
    counts = {"known": 0, "right": 0, "right_known": 0, "both": 0, "aligned": 0}
    cuts: list[dict[str, Any]] = []
    last = 0.0
    for pair, score in entries:
        if pair in seen:
            continue
        seen.add(pair)
        last = score
        right = synonyms.same(*pair)
        known = synonyms.known(pair[0]) and synonyms.known(pair[1])
        counts["known"] += known
        counts["right"] += right
        counts["right_known"] += right and known
        counts["both"] += pair in both
        counts["aligned"] += pair in aligned
        if len(seen) in CUTS:
            cuts.append(_cut(len(seen), last, counts, len(both), len(aligned)))
    if seen and len(seen) not in CUTS:
        cuts.append(_cut(len(seen), last, counts, len(both), len(aligned)))
    return {"occurring": len(both), "aligned": len(aligned), "cuts": cuts}


def _cut(
    entries: int, score: float, counts: Mapping[str, int], both: int, aligned: int
) -> dict[str, Any]:
    return {
        "entries": entries,
        "score": round(score, DECIMALS),
        "known": counts["known"],
        "right": counts["right"],
        "precision": _share(counts["right"], entries),
        "precision_known": _share(counts["right_known"], counts["known"]),
        "recall": _share(counts["both"], both),
        "recall_aligned": _share(counts["aligned"], aligned),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, DECIMALS) if whole else None
