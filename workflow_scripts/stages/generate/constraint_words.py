"""The words of a sentence as constraints see them, and how they are written in pieces."""

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from workflow_scripts.core.text.normalisation import spellings

Phrase = tuple[str, ...]  # the pieces of a forbidden word


class Word(NamedTuple):
    """A word and the punctuation that stands before it, without a blank, in the sentence."""

    lead: str
    text: str


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


def words_of(sentence: str) -> list[Word]:
    """Return the words of a sentence, in order, with repetitions."""
    return [word for word in map(split_word, sentence.split()) if word]


def phrases_of(
    words: list[Word], case: bool, segment: Callable[[str], list[str]]
) -> dict[str, set[Phrase]]:
    """Return every spelling of some words with the piece sequences that write it.

    A spelling is segmented alone, and once more after the punctuation before the word in its
    sentence: a quote takes the mark of the blank from the word's piece.

    Args:
        words: of one sentence.
        case: also the lower-cased and the capitalised spelling.
        segment: gives the Viterbi pieces of a text.
    """
    phrases: dict[str, set[Phrase]] = {}
    for word in words:
        for spelling in spellings(word.text, case):
            written = {tuple(segment(lead + spelling)) for lead in ("", word.lead)}
            phrases.setdefault(spelling, set()).update(written)
    return phrases
