"""What near doubles have in common: the same content words.

Case, punctuation and function words (articles among them) count for nothing, and so does a word
that stands twice in a row. In English, contractions count as what they stand for; negations and
numbers are content. Of other languages no function words are known here: there all words count.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from itertools import groupby

from workflow_scripts.core.text.closed_classes import WITHOUT_CONTENT
from workflow_scripts.core.text.normalisation import letters_and_digits, words
from workflow_scripts.core.text.text_tokens import parts, tokens
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.score.near_equal import written_out

Key = tuple[str, ...]


def content_key(text: str, language: str) -> Key:
    """Return the content words of a text of a language (ISO 639), in their order.

    A text of function words alone is compared by all its words.
    """
    every = _words(text, language)
    return tuple(_content(every, language) or every)


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


def likeliest(
    nlls: Mapping[str, float],
    reference: str,
    content: Callable[[str], Hashable],
    most: float,
    above: float = math.inf,
) -> list[str]:
    """Return the likeliest texts of each content, before anything else is known of them.

    They are those of the lowest forward NLL, less the share of their words that text and reference
    have in common (intersection over union): a judge finds those better that also have the
    function words of the reference. Of equal ones it is the smaller text.

    Args:
        nlls: the forward NLL of each text, in nats per token.
        reference: whose texts they are.
        content: gives what texts of the same content have in common.
        most: how many of each content.
        above: texts with an NLL above it come after the others.
    """
    of_reference = frozenset(words(reference))

    def order(text: str) -> tuple[bool, float, str]:
        own = frozenset(words(text))
        shared = len(own & of_reference) / max(1, len(own | of_reference))
        return nlls[text] > above, nlls[text] - shared, text

    counts = Counter[Hashable]()
    kept = []
    for text in sorted(nlls, key=order):
        key = content(text)
        counts[key] += 1
        if counts[key] <= most:
            kept.append(text)
    return kept


def _words(text: str, language: str) -> list[str]:
    written = written_out(text) if language in ENGLISH else text
    spelt = (letters_and_digits(part) for token in tokens(written) for part in parts(token))
    return [word for word, _ in groupby(filter(None, spelt))]


def _content(every: list[str], language: str) -> list[str]:
    english = language in ENGLISH
    return [word for word in every if not (english and word in WITHOUT_CONTENT)]
