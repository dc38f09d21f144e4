"""What words the paraphrase changed, dropped, repeated or made up."""

from collections import Counter
from collections.abc import Container
from difflib import SequenceMatcher
from functools import lru_cache

from workflow_scripts.core.text.closed_classes import FUNCTION_WORDS, PRONOUNS
from workflow_scripts.core.text.text_tokens import REMEMBERED, is_word, parts, tokens
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.judge.features.dictionary import ENGLISH_WORDS
from workflow_scripts.stages.judge.features.feature import of_texts

# A word of fewer letters may stand twice in any sentence.
_LETTERS = 4


def _lower(sentence: str) -> list[str]:
    return [token.lower() for token in tokens(sentence)]


@lru_cache(maxsize=REMEMBERED)
def word_parts(sentence: str) -> tuple[str, ...]:
    """Return the words of a sentence in lower case, apart at their apostrophes."""
    return tuple(part for token in _lower(sentence) if is_word(token) for part in parts(token))


def changed_pronouns(reference: str, paraphrase: str) -> int:
    """Return how many personal and possessive pronouns only one of the two sentences has."""
    first, second = (
        Counter(part for part in word_parts(text) if part in PRONOUNS)
        for text in (reference, paraphrase)
    )
    return ((first - second) + (second - first)).total()


def is_invented(part: str, of_reference: Container[str]) -> bool:
    """Tell whether a part of a word is a word that neither the reference nor a dictionary has."""
    return len(part) > 1 and part not in of_reference and part not in ENGLISH_WORDS


def invented_words(reference: str, paraphrase: str) -> int:
    """Return how many words neither the reference nor an English dictionary has.

    A name that the reference does not have is one. Letters that stand alone are none.
    """
    of_reference = set(word_parts(reference))
    return sum(
        any(is_invented(part, of_reference) for part in parts(token))
        for token in _lower(paraphrase)
        if is_word(token)
    )


def repeated_words(reference: str, paraphrase: str) -> int:
    """Return how often the paraphrase repeats words of four letters and more.

    A word may occur as often as in the reference, and once in any case.
    """
    allowed, counts = Counter(_lower(reference)), Counter(_lower(paraphrase))
    return sum(
        max(0, times - max(1, allowed[word]))
        for word, times in counts.items()
        if len(word) >= _LETTERS
    )


def dropped_words(reference: str, paraphrase: str) -> int:
    """Return how many content words of the reference have nothing in their place."""
    first = _lower(reference)
    steps = SequenceMatcher(None, first, _lower(paraphrase), autojunk=False).get_opcodes()
    return sum(
        is_word(word) and word not in FUNCTION_WORDS
        for step, start, end, _, _ in steps
        if step == "delete"
        for word in first[start:end]
    )


FEATURES = (
    of_texts("changed_pronouns", changed_pronouns, ENGLISH),
    of_texts("invented_words", invented_words, ENGLISH),
    of_texts("dropped_words", dropped_words, ENGLISH),
    of_texts("repeated_words", repeated_words),
)
