"""The two text normalisations that several stages must agree on, and how words are written."""

import functools
import string
import unicodedata

_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)


# Of the marks, those that spell: by their canonical combining class vowel signs (0), nuktas (7),
# viramas (9), and the vowel signs and tones of Telugu, Thai, Lao and Tibetan (84 to 132). Not the
# accents (from 200; what is left of them after NFKC, as the stress in Russian), nor the points of
# Hebrew and Arabic (10 to 36), which may be left out in writing.
_SPELLING_CLASSES = frozenset({0, 7, 9, *range(84, 133)})
# Marks of class 0 that are invisible: the grapheme joiner and the variation selectors.
_INVISIBLE_MARKS = frozenset(
    map(chr, [0x34F, 0x180B, 0x180C, 0x180D, 0x180F, *range(0xFE00, 0xFE10)])
) | frozenset(map(chr, range(0xE0100, 0xE01F0)))

# Scripts that are written without blanks, by the first words of their characters' names.
_WITHOUT_BLANKS = (
    "CJK",
    "HIRAGANA",
    "KATAKANA",
    "BOPOMOFO",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "TIBETAN",
)


@functools.cache
def _counts(character: str) -> bool:
    return character.isalnum() or (
        unicodedata.category(character) in ("Mn", "Mc")
        and unicodedata.combining(character) in _SPELLING_CLASSES
        and character not in _INVISIBLE_MARKS
    )


def letters_and_digits(text: str) -> str:
    """Return the letters and digits of `text`, case-folded: what is left of it when compared.

    Letters include the vowel signs of scripts that write them as marks. Compatible forms (accents
    apart from their letter, full-width letters) are the same.
    """
    return "".join(filter(_counts, unicodedata.normalize("NFKC", text).casefold()))


def dedup_key(source: str, reference: str) -> str:
    """Return the key under which two pairs are the same.

    It is coarser than any normalisation that follows, so duplicates always share a shard
    (docs/architecture.md, "Shards").
    """
    return f"{letters_and_digits(source)}\t{letters_and_digits(reference)}"


def words(sentence: str) -> list[str]:
    """Return the words that measures count: lower-cased, no ASCII punctuation, split at blanks."""
    return sentence.lower().translate(_ASCII_PUNCTUATION).split()


def spellings(word: str, case: bool) -> list[str]:
    """Return a word as it stands and, with `case`, in lower case and capitalised."""
    if not case:
        return [word]
    lower = word.lower()
    return list(dict.fromkeys([word, lower, lower[:1].upper() + lower[1:]]))


def written_without_blanks(character: str) -> bool:
    """Tell whether a character is of a script that is written without blanks; none is not."""
    return bool(character) and unicodedata.name(character, "").startswith(_WITHOUT_BLANKS)
