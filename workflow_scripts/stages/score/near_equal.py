"""What nearly equal texts have in common: a system with a judge counts them as one.

Two texts are nearly equal if they have the same letters and digits in the same order, whatever
their case, punctuation and blanks. In English, contractions count as what they stand for.
"""

import re
from collections.abc import Callable

from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.plan.catalogues.pair_features import ENGLISH

# English only. The ending of a word, and the words in its place. 's stands for "is" after these
# words; after others it may be a possessive. 'd stands for "would", as it mostly does.
_BEFORE_IS = "he|she|it|that|this|there|here|what|who|where|how|when|why"
_CONTRACTIONS = (
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\blet's\b"), "let us"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(rf"\b({_BEFORE_IS})'s\b"), r"\1 is"),
)
# Typographic ones, and the modifier letter that some texts have instead.
_APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\uff07", "''''")


def written_out(text: str) -> str:
    """Return an English text in lower case, with its contractions written out."""
    text = text.translate(_APOSTROPHES).lower()
    for pattern, words in _CONTRACTIONS:
        text = pattern.sub(words, text)
    return text


def spelt(language: str) -> Callable[[str], str]:
    """Return the function that gives equal texts for nearly equal ones of a language (ISO 639)."""
    if language in ENGLISH:
        return lambda text: letters_and_digits(written_out(text))
    return letters_and_digits
