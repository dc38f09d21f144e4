"""Constraint sets of a reference, and the random negative ones of ParaBank 2 (2.1)."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from workflow_scripts.core.seeding import generator
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.generate.constraint_words import Phrase, Word, phrases_of, words_of
from workflow_scripts.stages.generate.spare import Spare

Segment = Callable[[str], list[str]]


@dataclass(frozen=True)
class ConstraintSet:
    """Words that the candidates of one set must contain, or must not contain.

    `avoid`, `want`: the words chosen, as they stand in the reference; `spellings`: all the forms
    that are forbidden with the former; `phrases`: the piece sequences that write those, none of
    which a candidate may complete; `wanted`: those of the words that it must contain; `variant`:
    the name of the choice, None in a system without variants. A phrase that begins with `<s>`
    is tied to the sentence start.
    """

    avoid: list[str]
    want: list[str]
    spellings: frozenset[str]
    phrases: frozenset[Phrase]
    wanted: list[Phrase]
    variant: str | None = None

    def blocks(self, pieces: list[str]) -> bool:
        """Tell whether a word's pieces begin with a forbidden phrase."""
        return any(tuple(pieces[:length]) in self.phrases for length in range(1, len(pieces) + 1))


class SetMaker(Protocol):
    """Makes the constraint sets of a reference."""

    def __call__(self, reference: str, identifier: str, source: str = "") -> list[ConstraintSet]:
        """Return the sets; the source tells which words are names, where these are spared."""
        ...


def unconstrained(variant: str | None = None) -> ConstraintSet:
    """Return the set that leaves everything free."""
    return ConstraintSet([], [], frozenset(), frozenset(), [], variant)


def negative(
    avoid: list[str], phrases: dict[str, set[Phrase]], variant: str | None = None
) -> ConstraintSet:
    """Return the set that forbids words, given every spelling with the pieces that write it."""
    every = frozenset().union(*phrases.values())
    return ConstraintSet(avoid, [], frozenset(phrases), every, [], variant)


def share(value: float) -> Fraction:
    """Return the nearest fraction with a denominator up to 100: 0.333 means a third."""
    return Fraction(str(value)).limit_denominator(100)


def constraint_sets(
    reference: str,
    identifier: str,
    config: dict[str, Any] | None,
    seed: int,
    segment: Segment,
    source: str = "",
) -> list[ConstraintSet]:
    """Draw the constraint sets of a reference; one empty set where the config is None.

    Each set takes n distinct words (those with at least one letter; forms that differ in case
    only are one word where `case` holds) without replacement, n uniform over the integers from
    floor(least x words) to floor(greatest x words). Words that are spared count there, but are
    never taken; a set takes all others if they are fewer than n. Sets are independent of each other
    and of everything but the seed, the pair and its id.

    Args:
        reference: the sentence.
        identifier: its id.
        config: {"kind": "negative", "choose": "random", "sets", "fraction": [least, greatest],
            "case": also forbid the lower-cased and the capitalised form, "spare": words that may
            not be forbidden}.
        seed: of the draws.
        segment: gives the Viterbi pieces of a text.
        source: of the reference; it tells which words are names, where these are spared.
    """
    if config is None:
        return [unconstrained()]
    case = filled(config, "random_sets")["case"]
    distinct: dict[str, list[Word]] = {}
    for word in words_of(reference):
        distinct.setdefault(word.text.lower() if case else word.text, []).append(word)
    least, greatest = (math.floor(share(bound) * len(distinct)) for bound in config["fraction"])
    spared = Spare(config.get("spare", {})).of(reference, source)
    occurrences = [
        words for words in distinct.values() if spared.isdisjoint(word.text for word in words)
    ]
    sets = []
    for number in range(config["sets"]):
        random = generator(seed, "constraints", identifier, number)
        count = min(int(random.integers(least, greatest + 1)), len(occurrences))
        drawn = sorted(random.choice(len(occurrences), count, replace=False).tolist())
        words = [word for index in drawn for word in occurrences[index]]
        phrases = phrases_of(words, case, segment)
        sets.append(negative([occurrences[index][0].text for index in drawn], phrases))
    return sets


def blocked_words(
    sets: Iterable[ConstraintSet], lexicon: Iterable[str], segment: Segment
) -> set[str]:
    """Return the words of a lexicon that a set blocks although it does not forbid them.

    Forbidding `▁for` also blocks `▁for ty`. Counted over the words of a reference and its
    candidates, this says what the sets cost: candidates of other sets could use these words.
    """
    written = {word: segment(word) for word in lexicon}
    return {
        word
        for constraints in sets
        for word, pieces in written.items()
        if word not in constraints.spellings and constraints.blocks(pieces)
    }
