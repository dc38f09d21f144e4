"""What near doubles have in common: the same content words in the same order.

Case, punctuation and function words (articles among them) count for nothing, and so does a word
that stands twice in a row. In English, contractions count as what they stand for. Of other
languages no function words are known here: there all words count.
"""

from itertools import groupby

from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.core.text.text_tokens import parts, tokens
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.judge.features.closed_classes import FUNCTION_WORDS
from workflow_scripts.stages.select.near_equal import written_out

Key = tuple[str, ...]


def content_key(text: str, language: str) -> Key:
    """Return what near doubles of a language (ISO 639) have in common: their content words.

    A text of function words alone is compared by all its words.
    """
    english = language in ENGLISH
    written = written_out(text) if english else text
    spelt = (letters_and_digits(part) for token in tokens(written) for part in parts(token))
    words = [word for word, _ in groupby(filter(None, spelt))]
    content = [word for word in words if not (english and word in FUNCTION_WORDS)]
    return tuple(content or words)
