"""Regular English inflection, by the rules of spelling.

The lexicon lists irregular forms; the rules here are for regular words. Spelling does not show the
stress, so ``STRESSED_LAST`` lists the words that need it.
"""

from __future__ import annotations

import re

# Words of several syllables, stressed on the last, that double their last consonant.
STRESSED_LAST = frozenset({"admit", "begin", "forget", "permit", "prefer", "regret", "submit"})
# First letters that are silent or sound like a consonant, so the article is the other one.
AN_BEFORE = ("hour", "honest", "honour", "honor", "heir")
A_BEFORE = ("uni", "use", "usu", "util", "euro", "one", "once", "ubiq")

_VOWELS = "aeiou"
_SYLLABLE = re.compile(r"[aeiouy]+")


def syllables(word: str) -> int:
    """Number of syllables of ``word`` as its spelling shows them: a final silent e is none."""
    count = len(_SYLLABLE.findall(word))
    silent = word.endswith("e") and not word.endswith(("le", "ee")) and count > 1
    return count - 1 if silent else count


def doubles(word: str) -> bool:
    """Whether ``word`` doubles its last consonant before a vowel: stop, stopped; not visit."""
    short = re.search(
        r"[^aeiou][aeiou][^aeiouwxy]$|^[aeiou][^aeiouwxy]$|qu[aeiou][^aeiouwxy]$", word
    )
    return bool(short) and (syllables(word) == 1 or word in STRESSED_LAST)


def _ends_in_y(word: str) -> bool:
    return word.endswith("y") and word[-2:-1] not in _VOWELS


def with_s(word: str) -> str:
    """``word`` with the ending -s (plural, or third person of the present)."""
    if _ends_in_y(word):
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("o") and word[-2:-1] not in _VOWELS and word not in ("photo", "piano"):
        return word + "es"
    return word + "s"


def with_ed(word: str) -> str:
    """``word`` with the ending -ed."""
    if word.endswith("e"):
        return word + "d"
    if _ends_in_y(word):
        return word[:-1] + "ied"
    return word + (word[-1] if doubles(word) else "") + "ed"


def with_ing(word: str) -> str:
    """``word`` with the ending -ing."""
    if word.endswith("ie"):
        return word[:-2] + "ying"
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
        return word[:-1] + "ing"
    return word + (word[-1] if doubles(word) else "") + "ing"


def compared(word: str) -> tuple[str, str]:
    """Comparative and superlative of ``word``: -er and -est if it is short, else more and most."""
    light = _ends_in_y(word) or word.endswith("le")
    if "-" not in word and (syllables(word) == 1 or (syllables(word) == 2 and light)):
        if word.endswith("e"):
            return word + "r", word + "st"
        if _ends_in_y(word):
            return word[:-1] + "ier", word[:-1] + "iest"
        stem = word + word[-1] if doubles(word) else word
        return stem + "er", stem + "est"
    return "more " + word, "most " + word


def article(word: str) -> str:
    """The indefinite article before ``word``: ``a`` or ``an``, by how the word sounds."""
    lower = word.lower()
    if lower.startswith(AN_BEFORE):
        return "an"
    if lower.startswith(A_BEFORE):
        return "a"
    return "an" if lower[:1] in _VOWELS else "a"
