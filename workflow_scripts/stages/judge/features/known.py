"""Words that no reference holds: respelt and invented ones."""

from workflow_scripts.core.text.text_tokens import is_known, is_word, parts, tokens
from workflow_scripts.stages.judge.features.feature import Feature, Models
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs, numbers_of


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
