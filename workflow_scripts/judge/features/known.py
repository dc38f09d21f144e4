"""Words that no reference holds: respelt and invented ones."""

from collections.abc import Container

from workflow_scripts.core.tokens import is_word, parts, tokens
from workflow_scripts.judge.features.feature import Feature, Models
from workflow_scripts.judge.pairs import Numbers, Pairs, numbers_of


def is_known(word: str, known: Container[str]) -> bool:
    """Tell whether a word is known as it stands, in lower case or capitalised."""
    return word in known or word.lower() in known or word.capitalize() in known


def _unknown(pairs: Pairs, models: Models) -> Numbers:
    known = models.known_words
    assert known is not None

    def count(_: str, paraphrase: str) -> int:
        return sum(
            not all(is_known(part, known) for part in parts(token))
            for token in tokens(paraphrase)
            if is_word(token)
        )

    return numbers_of(pairs, count)


FEATURES = (Feature("unknown_words", _unknown, models=("known_words",)),)
