"""The words of a sentence as constraints see them, and how they are written in pieces."""

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from workflow_scripts.core.text.normalisation import spellings

Phrase = tuple[str, ...]  # the pieces of a forbidden word


class Word(NamedTuple):
    """A word, and what stands before it, without a blank, in the sentence: punctuation, for one.

    `tail`: what follows without a blank ("'s"), but for the punctuation at its end.
    """

    lead: str
    text: str
    tail: str = ""


# Gives the words of what stands between two blanks.
Split = Callable[[str], tuple[Word, ...]]


@lru_cache(maxsize=1 << 16)
def split_word(token: str) -> Word | None:
    """Return the word of a blank-separated token without the punctuation around it.

    Hyphens and apostrophes inside belong to the word. A token without a letter is no word.
    """
    inside = [
        index
        for index, character in enumerate(token)
        if unicodedata.category(character)[0] not in "PS"
    ]
    if not any(character.isalpha() for character in token):
        return None
    return Word(token[: inside[0]], token[inside[0] : inside[-1] + 1])


def without_marks(text: str) -> str:
    """Return a text without the punctuation at its end."""
    while text and unicodedata.category(text[-1])[0] in "PS":
        text = text[:-1]
    return text


def between_blanks(token: str) -> tuple[Word, ...]:
    """Return the one word of a blank-separated token, or none."""
    word = split_word(token)
    return (word,) if word else ()


def words_of(sentence: str, split: Split = between_blanks) -> list[Word]:
    """Return the words of a sentence, in order, with repetitions."""
    return [word for token in sentence.split() for word in split(token)]


def is_plain(word: str) -> bool:
    """Tell whether a word is alphabetic and in lower case."""
    return word.isalpha() and word == word.lower()


def plain_words(words: list[Word]) -> list[str]:
    """Return the distinct lower-case alphabetic ones of some words, in their order."""
    return list(dict.fromkeys(word.text for word in words if is_plain(word.text)))


def phrases_of(
    words: list[Word], case: bool, segment: Callable[[str], list[str]]
) -> dict[str, set[Phrase]]:
    """Return every spelling of some words with the piece sequences that write it.

    A spelling is segmented alone, and once more with what stands before and after the word in its
    sentence: a quote takes the mark of the blank from the word's piece.

    Args:
        words: of one sentence.
        case: also the lower-cased and the capitalised spelling.
        segment: gives the Viterbi pieces of a text.
    """
    phrases: dict[str, set[Phrase]] = {}
    for word in words:
        for spelling in spellings(word.text, case):
            written = {
                tuple(segment(lead + spelling + tail))
                for lead in ("", word.lead)
                for tail in ("", word.tail)
            }
            phrases.setdefault(spelling, set()).update(written)
    return phrases
