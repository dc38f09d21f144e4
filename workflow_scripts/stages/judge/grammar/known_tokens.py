"""How the grammar model cuts a sentence, and what it knows of a token.

No language is assumed: a token is a run of letters and digits, or one other character. Scripts
that are written without blanks give one token a character.
"""

import zlib
from functools import lru_cache

import regex

# Scripts whose words no blank separates.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_SPACED = rf"[\p{{L}}\p{{N}}\p{{M}}--[{_UNSPACED}]]"
_TOKEN = regex.compile(rf"[{_UNSPACED}]\p{{M}}*|{_SPACED}+|\S", regex.V1)
_DIGIT = regex.compile(r"\p{Nd}")
# One apostrophe and one quotation mark for all: how they are set is a matter of taste.
_QUOTES = str.maketrans("‘’‛`´“”„«»", "'''''\"\"\"\"\"")
# Lengths of the n-grams of letters that stand for a word.
_GRAMS = (2, 3, 4)
# Letters at the start and at the end of a word that n-grams are taken from: a longer run is no
# word, and its n-grams would be thousands.
_LETTERS = 20

LOWER, CAPITALISED, CAPITALS, MIXED, NUMBER, OTHER = range(6)
SHAPES = 6


def tokens(sentence: str) -> list[str]:
    """Return the tokens of a sentence, as they are written."""
    return _TOKEN.findall(sentence)


def is_word(token: str) -> bool:
    """Return whether a token is a word: its first character is a letter."""
    return token[0].isalpha()


@lru_cache(maxsize=1 << 17)
def normal(token: str) -> str:
    """Return the form under which tokens are the same: lower-cased, each digit 0, plain quotes."""
    return _DIGIT.sub("0", token.lower()).translate(_QUOTES)


@lru_cache(maxsize=1 << 17)
def shape(token: str) -> int:
    """Return how a token is written: one of the constants of this module."""
    if not any(character.isalnum() for character in token):
        return OTHER
    if not is_word(token):
        return NUMBER
    if token == token.lower():
        return LOWER
    if token[1:] == token[1:].lower():
        return CAPITALISED
    return CAPITALS if token == token.upper() else MIXED


@lru_cache(maxsize=1 << 16)
def grams(word: str, buckets: int) -> tuple[int, ...]:
    """Return the numbers, below `buckets`, of the n-grams of letters of a word in normal form."""
    if len(word) > 2 * _LETTERS:
        word = f"{word[:_LETTERS]}\0{word[-_LETTERS:]}"
    marked = f"<{word}>"
    return tuple(
        zlib.crc32(marked[start : start + size].encode("utf-8", "surrogatepass")) % buckets
        for size in _GRAMS
        for start in range(len(marked) - size + 1)
    )
