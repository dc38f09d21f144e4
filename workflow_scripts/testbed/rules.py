"""The grammar of the testbed's English: which constituents stand in which order.

Rules are data. Generation fills their slots with what a meaning holds. Parsing matches their items
against a sentence and reads the slots off. So each is the exact inverse of the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from workflow_scripts.testbed.forest import Mark


class Slot(NamedTuple):
    """A place for one constituent: its category, and the attribute of the meaning it expresses."""

    category: str
    slot: str


class Fixed(NamedTuple):
    """A fixed word with its part-of-speech tag."""

    tag: str
    word: str


class Constituent(NamedTuple):
    """Several items under a phrase label."""

    label: str
    items: tuple["Item", ...]


Item = Slot | Fixed | Constituent

COMMA = Fixed(",", ",")

# Adverbials whose synonyms fit in different places: "usually" before the verb, "daily" after it.
POSITIONED = frozenset({"manner", "frequency", "attitude"})
# Slots whose words follow from other slots.
GRAMMATICAL = frozenset({"genitive", "past", "relativizer"})


def flat(items: tuple[Item, ...]) -> tuple[Slot | Fixed, ...]:
    """Return the slots and words of items, without phrase labels."""
    out: list[Slot | Fixed] = []
    for item in items:
        out.extend(flat(item.items) if isinstance(item, Constituent) else (item,))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class PhraseRule:
    """One form of a noun phrase or relative clause.

    Attributes:
        name: `constituents.py` finds the form by it.
        label: of the constituent.
        items: what the constituent consists of.
        marks: the choices that the form stands for.
    """

    name: str
    label: str
    items: tuple[Item, ...]
    marks: tuple[Mark, ...] = ()

    @property
    def slots(self) -> frozenset[str]:
        """The attributes that it expresses, without `GRAMMATICAL` ones."""
        slots = {item.slot for item in flat(self.items) if isinstance(item, Slot)}
        return frozenset(slots - GRAMMATICAL)


_NOUN = Slot("noun", "head")
_ADJECTIVE = Slot("adjective", "adjective")
_THE = Fixed("DT", "the")


def _plain_rules() -> Iterator[PhraseRule]:
    determiner = Slot("determiner", "determiner")
    yield PhraseRule("name", "NP", (Slot("name", "head"),))
    yield PhraseRule("noun", "NP", (determiner, _NOUN))
    yield PhraseRule("noun", "NP", (determiner, _ADJECTIVE, _NOUN))


def _noun_phrase_rules() -> Iterator[PhraseRule]:
    plain = Slot("plain", "base")
    yield PhraseRule("plain", "", (plain,))
    owner = Slot("plain", "possessor")
    genitive = Constituent("NP", (Constituent("", (owner,)), Slot("genitive", "genitive")))
    for adjective in ((), (_ADJECTIVE,)):
        yield PhraseRule("owned", "NP", (genitive, *adjective, _NOUN), (("possessive", "'s"),))
        head = Constituent("NP", (_THE, *adjective, _NOUN))
        of = Constituent("PP", (Fixed("IN", "of"), owner))
        yield PhraseRule("owned", "NP", (head, of), (("possessive", "of"),))
    yield PhraseRule("doing", "NP", (plain, Slot("relative", "relative")))


def _relative_rules() -> Iterator[PhraseRule]:
    verb = Slot("verb", "verb")
    for complement in (Slot("plain", "object"), Slot("place", "place")):
        doing = Constituent("VP", (verb, complement))
        be = Constituent("VP", (Slot("be", "past"), doing))
        who = Constituent("WHNP", (Slot("relativizer", "relativizer"),))
        clause = (who, Constituent("S", (be,)))
        yield PhraseRule("clause", "SBAR", clause, (("relative", "clause"),))
        yield PhraseRule("participle", "", (doing,), (("relative", "participle"),))


PHRASES: dict[str, tuple[PhraseRule, ...]] = {
    "plain": tuple(_plain_rules()),
    "phrase": tuple(_noun_phrase_rules()),
    "relative": tuple(_relative_rules()),
    "place": (
        PhraseRule("place", "PP", (Slot("relation", "relation"), Slot("plain", "phrase"))),
        PhraseRule("place", "ADVP", (Slot("place_adverb", "relation"),)),
    ),
    "goal": (PhraseRule("goal", "PP", (Slot("direction", "relation"), Slot("plain", "phrase"))),),
}
