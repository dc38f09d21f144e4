"""The tokens of a sentence as features of pairs see them, and the words that references hold."""

import functools
from collections.abc import Container, Iterable, Iterator

import regex

# A number with its points and colons; a word, digits in it too, with apostrophes; any other mark.
_TOKEN = regex.compile(
    r"\p{N}+(?:[.,:]\p{N}+)*(?![\p{L}\p{M}\p{N}])"
    r"|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*"
    r"|[^\s]"
)
_APOSTROPHE = regex.compile("['’]")
# After these a word has a capital whatever it is.
_BEGINNINGS = frozenset('.!?:;…¿¡"“”«»‘(')
BEGINS = "^"
# Sentences, and their words, that several features of a pair ask for. A sentence of 20 words takes
# about 2 kB.
REMEMBERED = 1 << 12


@functools.lru_cache(maxsize=REMEMBERED)
def tokens(sentence: str) -> tuple[str, ...]:
    """Return the words, numbers and marks of a sentence, as they stand."""
    return tuple(_TOKEN.findall(sentence))


@functools.lru_cache(maxsize=REMEMBERED)
def is_word(token: str) -> bool:
    """Tell whether a token is a word, and neither a number nor a mark."""
    return any(character.isalpha() for character in token)


def parts(word: str) -> list[str]:
    """Return what the apostrophes of a word part: `don`, `t`."""
    return _APOSTROPHE.split(word)


def words_in_place(sentence: str) -> Iterator[tuple[str, bool]]:
    """Yield the words of a text, each with whether it begins a sentence, or stands as if it did."""
    begins = True
    for token in tokens(sentence):
        if is_word(token):
            yield token, begins
            begins = False
        else:
            begins = begins or token in _BEGINNINGS


def known_words(references: Iterable[str]) -> set[str]:
    """Return the words that references hold, as they stand, apart at their apostrophes.

    What begins a sentence with a capital has `BEGINS` before it: that capital says nothing.
    """
    known: set[str] = set()
    for reference in references:
        for word, begins in words_in_place(reference):
            first, *rest = parts(word)
            known.add(BEGINS + first if begins and first[:1].isupper() else first)
            known.update(rest)
    return known


def is_known(word: str, known: Container[str]) -> bool:
    """Tell whether known words hold a word as it stands, in lower case or capitalised."""
    capitalised = word.capitalize()
    spelt = (word, word.lower(), capitalised, BEGINS + word, BEGINS + capitalised)
    return any(spelling in known for spelling in spelt)
