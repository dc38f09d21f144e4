"""How many of the best entries of a lexicon a resource has, and how many are antonyms.

An entry counts if the resource knows its phrase: it then says something of it. What a resource
lacks is not always wrong, so this precision is a lower bound, and of use to compare.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.core.statistics.bootstrap import interval, resampled
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.lexicon.measures_data import Listed, Pair, Rule
from workflow_scripts.stages.lexicon.measures_wordnet import FORM, HYPERNYM, SYNONYM, WordNet

# So many of the best entries are looked at.
CUTS = (100, 1000, 10_000)
ALL = "all"
# Words of the longer side of an entry.
LENGTHS = ("1", "2", "3")
IN_LIST = "listed"
# Rules of a file in memory, at most.
_MOST_RULES = 10 * CUTS[-1]


class Resource(NamedTuple):
    """Who says whether an entry is right.

    Attributes:
        name: of the resource.
        knows: tells whether it says something of a phrase.
        relation: how it relates a phrase and a paraphrase, None for not at all.
        right: the relations that count as right.
        further: relations that a second figure counts as well.
    """

    name: str
    knows: Callable[[str], bool]
    relation: Callable[[str, str], str | None]
    right: frozenset[str]
    further: frozenset[str]


def wordnet_resource(wordnet: WordNet) -> Resource:
    """Return WordNet as a resource: a shared synset is right, a direct hypernym comes second."""
    right = frozenset({SYNONYM})
    return Resource("wordnet", wordnet.knows, wordnet.relation, right, frozenset({HYPERNYM, FORM}))


def listed_resource(listed: Listed) -> Resource:
    """Return a file of paraphrases as a resource; either direction counts."""

    def relation(phrase: str, paraphrase: str) -> str | None:
        return IN_LIST if listed.has(phrase, paraphrase) else None

    return Resource(listed.name, listed.knows, relation, frozenset({IN_LIST}), frozenset())


def length(pair: Pair) -> str:
    """Return the number of words of the longer side of an entry."""
    return str(max(len(side.split()) for side in pair))


class Best:
    """The best entries that a resource says something of, overall and by length.

    Args:
        knows: whether an entry with this phrase counts; None: every one does.
    """

    def __init__(self, knows: Callable[[str], bool] | None = None) -> None:
        self._knows = knows
        # Keys of a dict: in the order in which they came, each once.
        self._entries: dict[str, dict[Pair, None]] = {group: {} for group in (ALL, *LENGTHS)}

    def add(self, pair: Pair) -> None:
        """Take the next entry; they come best first, and one that comes again does not count."""
        kinds = [self._entries[ALL], self._entries.setdefault(length(pair), {})]
        wanted = [entries for entries in kinds if len(entries) < CUTS[-1]]
        if wanted and (self._knows is None or self._knows(pair[0])):
            for entries in wanted:
                entries.setdefault(pair)

    def entries(self, kind: str = ALL) -> list[Pair]:
        """Return the entries of a length, or all, best first."""
        return [*self._entries[kind]]


def cuts(entries: Sequence[Pair]) -> list[int]:
    """Return how many of the best entries are looked at: each of `CUTS`, or all that there are."""
    whole = [cut for cut in CUTS if cut <= len(entries)]
    if len(whole) < len(CUTS) and len(entries) > (whole[-1] if whole else 0):
        return [*whole, len(entries)]
    return whole


def precision(
    entries: Sequence[Pair], resource: Resource, samples: int, seed: int
) -> list[dict[str, Any]]:
    """Return the precision at each of `cuts`, with that of chance.

    By chance: the same phrases with the same paraphrases in a random order.

    Args:
        entries: best first; the resource knows their phrases.
        resource: who says what is right.
        samples: bootstrap samples; both directions of an entry are drawn together.
        seed: of the draws.

    Returns:
        For each number of entries `entries`, `both_known` (of which the resource knows the
        paraphrase, too), `relations` (how many stand in which), `precision` and `with_further` with
        their intervals, `precision_both_known`, and `chance`.
    """
    relations = [resource.relation(*pair) for pair in entries]
    known = [resource.knows(paraphrase) for _, paraphrase in entries]
    at_cuts = []
    for count in cuts(entries):
        of_cut, both = relations[:count], sum(known[:count])
        blocks: dict[frozenset[str], list[int]] = {}
        for pair, relation in zip(entries[:count], of_cut, strict=True):
            sums = blocks.setdefault(frozenset(pair), [0, 0, 0])
            sums[0] += 1
            sums[1] += relation in resource.right
            sums[2] += relation in resource.right | resource.further
        table = np.array([*blocks.values()], np.float64)
        drawn = np.concatenate(list(resampled(table, samples, seed)))
        right, further = (
            {
                "value": round(float(table[:, place].sum() / count), DECIMALS),
                **interval(drawn[:, place] / drawn[:, 0]),
            }
            for place in (1, 2)
        )
        shuffled = generator(seed, "chance", count).permutation(count)
        by_chance = [
            resource.relation(entries[place][0], entries[other][1])
            for place, other in enumerate(shuffled.tolist())
        ]
        at_cuts.append(
            {
                "entries": count,
                "both_known": both,
                "relations": dict(
                    Counter(relation_of for relation_of in of_cut if relation_of is not None)
                ),
                "precision": right,
                "with_further": further,
                "precision_both_known": _share(table[:, 1].sum(), both),
                "chance": _share(
                    sum(relation_of in resource.right for relation_of in by_chance), count
                ),
            }
        )
    return at_cuts


def _share(part: float, whole: float) -> float | None:
    return round(float(part / whole), DECIMALS) if whole else None


def ranked(rules: Iterable[Rule], knows: Callable[[str], bool], seed: int) -> list[Pair]:
    """Return the best rules of a file whose phrases a resource knows; of a list, a seeded sample.

    A rule that comes several times has its best score. Equal scores are in alphabetical order.

    Args:
        rules: of one file.
        knows: whether a rule with this phrase counts.
        seed: of the sample.
    """
    best: dict[Pair, float] = {}
    for phrase, paraphrase, score in rules:
        if not knows(phrase):
            continue
        pair = phrase, paraphrase
        value = fraction(seed, *pair) if score is None else score
        best[pair] = max(value, best.get(pair, value))
        if len(best) >= _MOST_RULES:  # those that go have enough better ones before them
            best = dict(heapq.nsmallest(CUTS[-1], best.items(), key=_rank))
    return [pair for pair, _ in heapq.nsmallest(CUTS[-1], best.items(), key=_rank)]


def _rank(item: tuple[Pair, float]) -> tuple[float, Pair]:
    pair, score = item
    return -score, pair


def antonyms(
    entries: Sequence[Pair], sources: Mapping[str, Callable[[str, str], bool]]
) -> list[dict[str, Any]]:
    """Return how many of the best entries are antonyms by each source.

    Args:
        entries: all, best first.
        sources: tell whether two phrases are antonyms.

    Returns:
        For each of `cuts`, `entries`, and by source the `count` and the first ones.
    """
    at_cuts = []
    for count in cuts(entries):
        by_source = {}
        for name, opposed in sources.items():
            those = [pair for pair in entries[:count] if opposed(*pair)]
            by_source[name] = {
                "count": len(those),
                "share": _share(len(those), count),
                "first": [list(pair) for pair in those[:5]],
            }
        at_cuts.append({"entries": count, "by_source": by_source})
    return at_cuts
