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
    found = []
    for operation, begin, end, first, last in matcher.get_opcodes():
        if operation == "equal":
            found.append(Change("same", " ".join(new[first:last])))
            continue
        if end > begin:
            found.append(Change("gone", " ".join(old[begin:end])))
        if last > first:
            found.append(Change("new", " ".join(new[first:last])))
    return found


def _keys(words: list[str]) -> list[str]:
    return [_key(word) for word in words]


def _key(word: str) -> str:
    kept = (each for each in word.casefold() if unicodedata.category(each)[0] not in "PS")
    return "".join(kept) or word
