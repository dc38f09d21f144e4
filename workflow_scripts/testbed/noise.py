"""Noise: a testbed pair spoiled in one of the ways in which pairs of real bitext are bad."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from workflow_scripts.core.seeding import generator
from workflow_scripts.testbed import english
from workflow_scripts.testbed.czech_sentence import source
from workflow_scripts.testbed.lexical_slots import NUMERALS
from workflow_scripts.testbed.meaning import capacity, meaning
from workflow_scripts.testbed.participants import participants
from workflow_scripts.testbed.structure import Meaning, NounPhrase


@dataclass(frozen=True, slots=True)
class Item:
    """One pair of the testbed.

    Attributes:
        source, reference: its Czech and its English side.
        noise: the kind of noise it has, or None.
        tree: of the reference, in Penn Treebank brackets; empty where noise left no English
            sentence.
    """

    source: str
    reference: str
    noise: str | None = None
    tree: str = ""


# Attempts to draw a realisation that differs from those drawn before.
_ATTEMPTS = 20


def clean(seed: int, index: int, realisations: int) -> list[Item]:
    """Return the clean pairs of a meaning's number, one for each of some realisations.

    They are distinct as far as the meaning has enough of them.
    """
    what = meaning(seed, index)
    czech, rng = source(what), generator(seed, "reference", index)
    items: dict[str, Item] = {}
    repeated: list[Item] = []
    for _ in range(_ATTEMPTS * realisations):
        drawn = english.reference(what, rng)
        item = Item(czech, drawn.text, None, drawn.tree)
        if drawn.text in items:
            repeated.append(item)
        items.setdefault(drawn.text, item)
        if len(items) == realisations:
            break
    return [*items.values(), *repeated][:realisations]


# (the clean pair, its number, the seed, the pair's own generator) -> the noisy pair.
Noise = Callable[[Item, int, int, np.random.Generator], Item]


def _with_reference(item: Item, what: Meaning, rng: np.random.Generator) -> Item:
    """Return the pair with a drawn sentence of a meaning as its reference."""
    drawn = english.reference(what, rng)
    return replace(item, reference=drawn.text, tree=drawn.tree)


def _other(index: int, seed: int, rng: np.random.Generator) -> Meaning:
    """Draw a meaning with another number."""
    number = int(rng.integers(capacity() - 1))
    return meaning(seed, number + (number >= index))


def _misaligned(item: Item, index: int, seed: int, rng: np.random.Generator) -> Item:
    return _with_reference(item, _other(index, seed, rng), rng)


def _copied(item: Item, index: int, seed: int, rng: np.random.Generator) -> Item:
    if rng.random() < 0.5:
        return replace(item, reference=item.source, tree="")
    return replace(item, source=item.reference)


def _swapped(item: Item, index: int, seed: int, rng: np.random.Generator) -> Item:
    return Item(item.reference, item.source)


def _wrong_language(item: Item, index: int, seed: int, rng: np.random.Generator) -> Item:
    return replace(item, reference=source(_other(index, seed, rng)), tree="")


def _truncated(item: Item, index: int, seed: int, rng: np.random.Generator) -> Item:
    """Keep of one side a fifth to three fifths of its words, at least one."""

    def cut(text: str) -> str:
        words = text.split()
        return " ".join(words[: max(1, int(len(words) * rng.uniform(0.2, 0.6)))])

    if rng.random() < 0.5:
        return replace(item, source=cut(item.source))
    return replace(item, reference=cut(item.reference), tree="")


def _wrong_charset(item: Item, index: int, seed: int, rng: np.random.Generator) -> Item:
    """Read the UTF-8 of the source as Windows-1252; pure ASCII gets a byte order mark first."""
    text = item.source if not item.source.isascii() else "\ufeff" + item.source
    return replace(item, source=text.encode("utf-8").decode("cp1252", errors="replace"))


def _duplicate(item: Item, index: int, seed: int, rng: np.random.Generator) -> Item:
    """Return the clean pair of the number before again; the first number repeats the second."""
    return clean(seed, index - 1 if index else 1, 1)[0]


def _number_changed(item: Item, index: int, seed: int, rng: np.random.Generator) -> Item:
    options = list(renumbered(meaning(seed, index), rng))
    if not options:
        return item
    return _with_reference(item, options[int(rng.integers(len(options)))], rng)


def _negated(item: Item, index: int, seed: int, rng: np.random.Generator) -> Item:
    what = meaning(seed, index)
    if what.main.tense == "habitual" or what.main.frame == "existential":
        return item
    opposite = replace(what.main, negative=not what.main.negative)
    return _with_reference(item, replace(what, main=opposite), rng)


def renumbered(what: Meaning, rng: np.random.Generator) -> Iterator[Meaning]:
    """Yield the meaning with another number of one participant, for each that is a noun."""
    for one in participants(what):
        if one.phrase.kind == "noun":
            yield one.exchanged(_other_number(one.phrase, rng))


def _other_number(phrase: NounPhrase, rng: np.random.Generator) -> NounPhrase:
    if phrase.determiner in NUMERALS:
        others = [numeral for numeral in NUMERALS if numeral != phrase.determiner]
        return replace(phrase, determiner=others[int(rng.integers(len(others)))])
    return replace(phrase, number="plural" if phrase.number == "singular" else "singular")


KINDS: dict[str, Noise] = {
    "copied": _copied,
    "duplicate": _duplicate,
    "misaligned": _misaligned,
    "negated": _negated,
    "number_changed": _number_changed,
    "swapped": _swapped,
    "truncated": _truncated,
    "wrong_charset": _wrong_charset,
    "wrong_language": _wrong_language,
}
