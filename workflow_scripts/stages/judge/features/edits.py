"""What words the paraphrase changed, dropped, repeated or made up."""

from collections import Counter
from difflib import SequenceMatcher

from workflow_scripts.core.text.closed_classes import FUNCTION_WORDS, PRONOUNS
from workflow_scripts.core.text.text_tokens import is_word, parts, tokens
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.judge.features.dictionary import ENGLISH_WORDS
from workflow_scripts.stages.judge.features.feature import Feature
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs, numbers_of

# A word of fewer letters may stand twice in any sentence.
_LETTERS = 4


def _lower(sentence: str) -> list[str]:
    return [token.lower() for token in tokens(sentence)]


def word_parts(sentence: str) -> list[str]:
    """Return the words of a sentence in lower case, apart at their apostrophes."""
    return [part for token in _lower(sentence) if is_word(token) for part in parts(token)]


def changed_pronouns(reference: str, paraphrase: str) -> int:
    """Return how many personal and possessive pronouns only one of the two sentences has."""
    first, second = (
        Counter(part for part in word_parts(text) if part in PRONOUNS)
        for text in (reference, paraphrase)
    )
    return ((first - second) + (second - first)).total()


def invented_words(reference: str, paraphrase: str) -> int:
    """Return how many words neither the reference nor an English dictionary has.

    A name that the reference does not have is one. Letters that stand alone are none.
    """
    of_reference = set(word_parts(reference))
    return sum(
        any(
            len(part) > 1 and part not in of_reference and part not in ENGLISH_WORDS
            for part in parts(token)
        )
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


def _pronouns(pairs: Pairs, _: object) -> Numbers:
    return numbers_of(pairs, changed_pronouns)


def _invented(pairs: Pairs, _: object) -> Numbers:
    return numbers_of(pairs, invented_words)


def _repeated(pairs: Pairs, _: object) -> Numbers:
    return numbers_of(pairs, repeated_words)


def _dropped(pairs: Pairs, _: object) -> Numbers:
    return numbers_of(pairs, dropped_words)


FEATURES = (
    Feature("changed_pronouns", _pronouns, languages=ENGLISH),
    Feature("invented_words", _invented, languages=ENGLISH),
    Feature("dropped_words", _dropped, languages=ENGLISH),
    Feature("repeated_words", _repeated),
)
