"""Damage on the text that a rewriter reads, so that it learns to repair (docs/rewrite-kinds.md).

Words are what stands between blanks, without the punctuation at its ends. A word with anything but
letters in it (digits, URLs, addresses, hyphens) is never damaged. A word with a capital inside a
sentence is a name; nothing but its capital is damaged.

The grammar model has a generator of its own (judge/grammar/damage.py), which knows no language and
learns from a corpus what may stand for what. It draws a kind first and tries whether the sentence
has room for it; here all that a sentence offers is listed before anything is drawn. So neither can
stand for the other without other draws; what both do to single letters is core/text/letters.py.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from spellchecker import SpellChecker

from workflow_scripts.core.seeding import generator
from workflow_scripts.core.text.english_forms import getAllLemmas
from workflow_scripts.core.text.letters import (
    capitalised,
    like,
    omitted,
    repeated,
    replaced,
    swapped,
)
from workflow_scripts.plan.catalogues.rewriters import KINDS
from workflow_scripts.stages.generate.constraint_words import split_word
from workflow_scripts.stages.rewrite import english_damage
from workflow_scripts.stages.rewrite.keyboards import neighbours

# Words of fewer letters have too many others beside them; a longer run of letters is no word.
_LETTERS, _LONGEST = 3, 40
# Words that are another word with a capital, so that the capital is no damage.
_NAMES = (
    "april art august bill china dawn earth east faith frank god grace hope jack japan joy june "
    "march mark may moon north pat polish rose south sue summer sun turkey west will"
)
_OTHER_WITH_CAPITAL = frozenset(_NAMES.split())
# Signs of the web, of tags, and of paths, also at the ends of a token.
_NO_WORD = frozenset("@#/\\_&=<>{}[]|~^*")


class Damage(NamedTuple):
    """What was done to a word.

    Attributes:
        kind: one of `KINDS`.
        place: the number of the token among those that blanks part in the undamaged sentence.
        old: the token that stood there, with its punctuation.
        new: what stands there now: nothing, two words, or another one.
    """

    kind: str
    place: int
    old: str
    new: str


class Damaged(NamedTuple):
    """A sentence and its damage, by place; none where it was left clean."""

    text: str
    damages: tuple[Damage, ...]


class _Token(NamedTuple):
    """A token; `word` is empty where it is not to be damaged, and then `lead` is all of it."""

    lead: str
    word: str
    trail: str

    def written(self, word: str) -> str:
        """Return the token with another word."""
        return f"{self.lead}{word}{self.trail}"


class _Change(NamedTuple):
    """A damage that a sentence offers: what may be written in one place, one or the other."""

    place: int
    options: list[str]


def damage(
    sentence: str,
    language: str,
    settings: Mapping[str, Any],
    seed: int,
    *keys: str | int,
) -> Damaged:
    """Return a sentence as it is read in training: damaged, or clean.

    Damaged tokens don't stand side by side. A kind that a sentence has no place for is not drawn,
    so that a sentence without a place for any stays clean.

    Args:
        sentence: any text.
        language: its code.
        settings: the block `noise`: `clean`, `most` and `weights`.
        seed: with the keys, it decides what is drawn.
        keys: what tells this sentence from others, e.g. the pair's id and the copy's number.
    """
    random = generator(seed, "noise", *keys)
    if random.random() < settings["clean"]:
        return Damaged(sentence, ())
    weights = {kind: weight for kind, weight in settings["weights"].items() if weight}
    return _damage(sentence, language, weights, 1 + int(random.integers(settings["most"])), random)


def damage_once(
    sentence: str, language: str, kind: str, seed: int, *keys: str | int
) -> Damaged | None:
    """Return a sentence with one damage of a kind; None if it has no place for it."""
    random = generator(seed, "noise", kind, *keys)
    damaged = _damage(sentence, language, {kind: 1.0}, 1, random)
    return damaged if damaged.damages else None


def _damage(
    text: str,
    language: str,
    weights: Mapping[str, float],
    times: int,
    random: np.random.Generator,
) -> Damaged:
    """Return a text with `times` damages, or as many as it has room for."""
    sentence = _Sentence(text, language)
    damages: dict[int, Damage] = {}
    for _ in range(times):
        left = dict(weights)
        while left:
            kinds = list(left)
            shares = np.array([left[kind] for kind in kinds])
            kind = kinds[int(random.choice(len(kinds), p=shares / shares.sum()))]
            room = [
                change
                for change in _RULES[kind](sentence)
                if not {change.place - 1, change.place, change.place + 1} & damages.keys()
            ]
            if drawn := _drawn(room, sentence, random):
                damages[drawn[0]] = Damage(kind, drawn[0], sentence.parts[drawn[0]], drawn[1])
                break
            del left[kind]
    parts = [
        damages[place].new if place in damages else part
        for place, part in enumerate(sentence.parts)
        if place not in damages or damages[place].new
    ]
    return Damaged(" ".join(parts), tuple(damages[place] for place in sorted(damages)))


def _drawn(
    room: list[_Change], sentence: "_Sentence", random: np.random.Generator
) -> tuple[int, str] | None:
    """Draw a place, then what is written there; None if nothing is on offer."""
    if not room:
        return None
    change = room[int(random.integers(len(room)))]
    new = change.options[int(random.integers(len(change.options)))]
    return change.place, sentence.tokens[change.place].written(new) if new else ""


class _Sentence:
    """A sentence as the rules see it.

    Attributes:
        language: its code.
        parts: what its blanks part; empty strings between two blanks.
        tokens: the same, parsed.
        first: the place of the first that is not empty.
    """

    def __init__(self, text: str, language: str):
        self.language = language
        self.parts = text.split(" ")
        self.tokens = [_token(part) for part in self.parts]
        self.first = next((place for place, part in enumerate(self.parts) if part), 0)
        self._written = {token.word.lower() for token in self.tokens}

    def words(self) -> Iterator[tuple[int, str]]:
        """Yield the words that may be damaged, with their places."""
        return ((place, token.word) for place, token in enumerate(self.tokens) if token.word)

    def plain_words(self) -> Iterator[tuple[int, str]]:
        """Yield the words that are no names; the capital of the first word does not make it one.

        Where there is a dictionary, words that it lacks are no plain ones either.
        """
        for place, word in self.words():
            small = word == word.lower() or (place == self.first and word[1:] == word[1:].lower())
            if small and (is_word(word, self.language) or not known(self.language)):
                yield place, word

    def is_word(self, word: str) -> bool:
        """Return whether the language or the sentence itself has a word, in whatever case."""
        return word.lower() in self._written or is_word(word, self.language)

    def context(self) -> tuple[list[str], list[int]]:
        """Return the words as rules of grammar want them, and the place of each.

        They are in lower case, with empty strings for punctuation and for what is no word.
        """
        words, places = [], []
        for place, token in enumerate(self.tokens):
            parts = [*[""] * bool(token.lead), token.word.lower(), *[""] * bool(token.trail)]
            words += parts
            places += [place] * len(parts)
        return words, places


@cache
def known(language: str) -> frozenset[str]:
    """Return the words, in lower case, of pyspellchecker's list; none of a language it lacks."""
    if language not in SpellChecker.languages():
        return frozenset()
    return frozenset(SpellChecker(language=language).word_frequency.words())


def is_word(word: str, language: str) -> bool:
    """Return whether a language's dictionaries have a word, in whatever case."""
    small = word.lower()
    return small in known(language) or (language == "en" and bool(getAllLemmas(small)))


def _token(part: str) -> _Token:
    word = None if _NO_WORD & set(part) else split_word(part)
    if word is None or not word.text.isalpha() or len(word.text) > _LONGEST:
        return _Token(part, "", "")
    return _Token(word.lead, word.text, part[len(word.lead) + len(word.text) :])


def _typed(
    change: Callable[[str, int, str], Sequence[str]],
) -> Callable[[_Sentence], list[_Change]]:
    """Return the rule of a typing error: what it makes of a word must not be a word.

    The first letter stays as it is.
    """

    def rule(sentence: _Sentence) -> list[_Change]:
        changes = []
        for place, word in sentence.plain_words():
            if len(word) >= _LETTERS:
                spellings = dict.fromkeys(
                    new for at in range(1, len(word)) for new in change(word, at, sentence.language)
                )
                if options := [new for new in spellings if not sentence.is_word(new)]:
                    changes.append(_Change(place, options))
        return changes

    return rule


def _neighbour(word: str, at: int, language: str) -> list[str]:
    return [replaced(word, at, letter) for letter in neighbours(language).get(word[at], "")]


def _swap(word: str, at: int, language: str) -> list[str]:
    return [swapped(word, at)]


def _omit(word: str, at: int, language: str) -> list[str]:
    return [omitted(word, at)]


def _repeat(word: str, at: int, language: str) -> list[str]:
    return [repeated(word, at)]


def _double(sentence: _Sentence) -> list[_Change]:
    """Offer each word twice, but for those that may stand twice."""
    return [
        _Change(place, [f"{word} {word}"])
        for place, word in sentence.words()
        if sentence.language != "en" or not english_damage.may_be_doubled(word.lower())
    ]


def _case(sentence: _Sentence) -> list[_Change]:
    """Offer the first word and names without their capital, and other words with one.

    A sentence most of whose words have capitals is a title; nothing in it is wrong.
    """
    words = list(sentence.words())
    if 2 * sum(word[0].isupper() for _, word in words) > len(words) > 1:
        return []
    changes = []
    for place, word in words:
        if word == capitalised(word.lower()) != word.lower():
            changes.append(_Change(place, [word.lower()]))
        elif (
            word == word.lower() != capitalised(word)
            and place != sentence.first
            and len(word) >= _LETTERS
            and word not in _OTHER_WITH_CAPITAL
        ):
            changes.append(_Change(place, [capitalised(word)]))
    return changes


def _dropped(sentence: _Sentence) -> list[_Change]:
    words, places = sentence.context()
    droppable = (places[index] for index in english_damage.droppable(words))
    # With the first word, the capital would be lost, and punctuation with that beside it.
    return [
        _Change(place, [""])
        for place in droppable
        if place != sentence.first and sentence.parts[place] == sentence.tokens[place].word
    ]


def _reformed(
    rule: Callable[[Sequence[str]], Iterator[english_damage.Change]],
) -> Callable[[_Sentence], list[_Change]]:
    """Return the rule of words in another form, which takes over a capital."""

    def changes(sentence: _Sentence) -> list[_Change]:
        words, places = sentence.context()
        plain = dict(sentence.plain_words())
        return [
            _Change(place, [like(new, plain[place])])
            for index, new in rule(words)
            if (place := places[index]) in plain
        ]

    return changes


_RULES: dict[str, Callable[[_Sentence], list[_Change]]] = {
    "neighbour": _typed(_neighbour),
    "swap": _typed(_swap),
    "omit": _typed(_omit),
    "repeat": _typed(_repeat),
    "double": _double,
    "case": _case,
    "drop": _dropped,
    "verb": _reformed(english_damage.verbs),
    "determiner": _reformed(english_damage.determiners),
}
assert tuple(_RULES) == KINDS
