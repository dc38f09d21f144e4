"""The tokens of a sentence as features of pairs see them, and the words that references hold."""

import functools
from collections.abc import Iterable

import regex

# A number with its points and colons; a word, digits in it too, with apostrophes; any other mark.
_TOKEN = regex.compile(
    r"\p{N}+(?:[.,:]\p{N}+)*(?![\p{L}\p{M}\p{N}])"
    r"|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*"
    r"|[^\s]"
)
_APOSTROPHE = regex.compile("['’]")
# A sentence of 20 words takes about 2 kB.
_REMEMBERED = 1 << 14


@functools.lru_cache(maxsize=_REMEMBERED)
def tokens(sentence: str) -> tuple[str, ...]:
    """Return the words, numbers and marks of a sentence, as they stand."""
    return tuple(_TOKEN.findall(sentence))


def is_word(token: str) -> bool:
    """Tell whether a token is a word, and neither a number nor a mark."""
    return any(character.isalpha() for character in token)


def parts(word: str) -> list[str]:
    """Return what the apostrophes of a word part: `don`, `t`."""
    return _APOSTROPHE.split(word)


def known_words(references: Iterable[str]) -> set[str]:
    """Return the words that references hold, as they stand, apart at their apostrophes."""
    return {
        part
        for reference in references
        for token in tokens(reference)
        if is_word(token)
        for part in parts(token)
    }
