"""What near doubles have in common: the same content words.

Case, punctuation and function words (articles among them) count for nothing, and so does a word
that stands twice in a row. In English, contractions count as what they stand for; negations and
numbers are content. Of other languages no function words are known here: there all words count.
"""

from collections.abc import Hashable
from itertools import groupby

from workflow_scripts.core.text.closed_classes import WITHOUT_CONTENT
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.core.text.text_tokens import parts, tokens
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.score.near_equal import written_out

Key = tuple[str, ...]


def content_key(text: str, language: str) -> Key:
    """Return the content words of a text of a language (ISO 639), in their order.

    A text of function words alone is compared by all its words.
    """
    words = _words(text, language)
    return tuple(_content(words, language) or words)


def content_words(text: str, language: str) -> frozenset[str]:
    """Return the different content words of a text of a language (ISO 639)."""
    return frozenset(_content(_words(text, language), language))


def same_content(text: str, language: str) -> Hashable:
    """Return what is equal for texts with the same content words, in whatever order.

    Texts of other languages than English have it in common if they are spelt equally.
    """
    if language in ENGLISH:
        return frozenset(content_key(text, language))
    return letters_and_digits(text)


def word_changes(reference: str, paraphrase: str, language: str) -> tuple[int, int]:
    """Return how many content words only the paraphrase has, and how many only the reference.

    Both are 0 where they differ by function words alone, or by the order of words.
    """
    first, second = (content_words(text, language) for text in (reference, paraphrase))
    return len(second - first), len(first - second)


def _words(text: str, language: str) -> list[str]:
    written = written_out(text) if language in ENGLISH else text
    spelt = (letters_and_digits(part) for token in tokens(written) for part in parts(token))
    return [word for word, _ in groupby(filter(None, spelt))]


def _content(words: list[str], language: str) -> list[str]:
    english = language in ENGLISH
    return [word for word in words if not (english and word in WITHOUT_CONTENT)]
