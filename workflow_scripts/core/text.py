"""The two text normalisations that several stages must agree on."""

import string
import unicodedata

_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)


def letters_and_digits(text: str) -> str:
    """Return the letters and digits of `text`, case-folded: what is left of it when compared.

    Compatible forms (accents apart from their letter, full-width letters) are the same.
    """
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def dedup_key(source: str, reference: str) -> str:
    """Return the key under which two pairs are the same (DESIGN 3).

    It is coarser than any normalisation that follows, so duplicates always share a shard.
    """
    return f"{letters_and_digits(source)}\t{letters_and_digits(reference)}"


def words(sentence: str) -> list[str]:
    """Return the words that measures count: lower-cased, no ASCII punctuation, split at blanks."""
    return sentence.lower().translate(_ASCII_PUNCTUATION).split()
