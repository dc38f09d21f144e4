"""What a paraphrase changes, word by word."""

import difflib
import unicodedata
from typing import NamedTuple


class Change(NamedTuple):
    """Words that follow one another: `same`, `new`, or `gone` from the sentence."""

    kind: str
    text: str


def differences(sentence: str, paraphrase: str) -> list[Change]:
    """Return the words of both in order; case and punctuation around a word change nothing."""
    old, new = sentence.split(), paraphrase.split()
    matcher = difflib.SequenceMatcher(None, _keys(old), _keys(new), autojunk=False)
    changes = []
    for operation, begin, end, first, last in matcher.get_opcodes():
        if operation == "equal":
            changes.append(Change("same", " ".join(new[first:last])))
            continue
        if end > begin:
            changes.append(Change("gone", " ".join(old[begin:end])))
        if last > first:
            changes.append(Change("new", " ".join(new[first:last])))
    return changes


def _keys(words: list[str]) -> list[str]:
    return [_key(word) for word in words]


def _key(word: str) -> str:
    letters = (letter for letter in word.casefold() if unicodedata.category(letter)[0] not in "PS")
    return "".join(letters) or word
