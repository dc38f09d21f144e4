"""What counts as a token in the columns of pairs and in the corpus statistics.

Wieting et al. (2017) and Wieting and Gimpel (2018) count tokens of tokenised text, in which marks
of punctuation are tokens; Hu et al. (2019) strip punctuation. `evaluate.punctuation` says which.

The Snakefile imports this module: only the standard library, and sacrebleu once it is needed.
"""

import functools
import string
from collections.abc import Callable

from workflow_scripts.core.text.normalisation import words

DROPPED, TOKENS = "dropped", "tokens"
_PUNCTUATION_BUT_APOSTROPHES = str.maketrans("", "", string.punctuation.replace("'", ""))


@functools.cache
def _tokenizer() -> Callable[[str], str]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()


def words_and_punctuation(sentence: str) -> list[str]:
    """Return the lower-cased tokens of sacrebleu's tokeniser 13a: words, and each mark by itself.

    What stands between two blanks is tokenised by itself.
    """
    return _tokenizer()(sentence.lower()).split()


def words_with_apostrophes(sentence: str) -> list[str]:
    """Return lower-cased words without ASCII punctuation but the apostrophes inside them.

    Files of word vectors have *don't*, where `words` gives *dont*.
    """
    kept = sentence.lower().replace("\u2019", "'").translate(_PUNCTUATION_BUT_APOSTROPHES).split()
    return list(filter(None, (word.strip("'") for word in kept)))


# By their names in a configuration, `evaluate.punctuation`.
TOKENISERS: dict[str, Callable[[str], list[str]]] = {
    DROPPED: words,
    TOKENS: words_and_punctuation,
}
