"""The words of a dictionary beside those of the references, for English (lemminflect).

With few references a word that none of them holds says little: most words of good paraphrases are
such. The dictionary has few words beside nouns, verbs, adjectives and adverbs. Some of them are
names, too (Tom, Jack): what references hold with a capital alone is none of its words.
"""

from collections.abc import Container
from functools import lru_cache

from workflow_scripts.core.text.closed_classes import FUNCTION_WORDS
from workflow_scripts.core.text.english_forms import getAllLemmas


class WithDictionary:
    """Known words and those that lemminflect's dictionary has, in lower case."""

    def __init__(self, known: Container[str]):
        self._known = known

    def __contains__(self, word: object) -> bool:
        """Tell whether a word is one of these."""
        if word in self._known:
            return True
        assert isinstance(word, str)
        return _is_entry(word) and word.capitalize() not in self._known


# Those of the dictionary, and function words.
ENGLISH_WORDS = WithDictionary(FUNCTION_WORDS)


@lru_cache(maxsize=1 << 16)
def _is_entry(word: str) -> bool:
    return word.islower() and bool(getAllLemmas(word))
