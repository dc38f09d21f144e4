"""A spelling corrector to compare with: pyspellchecker (Norvig's method, frequencies of words)."""

from functools import lru_cache

from spellchecker import SpellChecker

from workflow_scripts.core.text.letters import like
from workflow_scripts.stages.generate.constraint_words import split_word

# Longer words are corrected within one edit: their second edits are millions.
_LONG = 16


class Corrector:
    """Writes the most frequent known word within two edits for each word that its list lacks.

    For a long word it looks within one edit. It is spared what it is not made for: words with other
    characters than letters, and those with a capital inside the sentence, stay as they are.
    """

    def __init__(self, language: str):
        """Load the list of a language, one of `corrects`."""
        self._checker = SpellChecker(language=language)
        self._longest = max(map(len, self._checker.word_frequency.words()))
        self._corrected = lru_cache(1 << 16)(self._correction)

    def correct(self, sentence: str) -> str:
        """Return a sentence with other words for those that are not known."""
        parts = sentence.split(" ")
        first = next((place for place, part in enumerate(parts) if part), 0)
        return " ".join(
            self._word(part, may_have_capital=place == first) for place, part in enumerate(parts)
        )

    def _word(self, part: str, *, may_have_capital: bool) -> str:
        token = split_word(part)
        if token is None or not token.text.isalpha():
            return part
        word = token.text
        if word != word.lower() and not may_have_capital:
            return part
        if word.lower() in self._checker:
            return part
        new = self._corrected(word.lower())
        if new is None:
            return part
        return token.lead + like(new, word) + part[len(token.lead) + len(word) :]

    def _correction(self, word: str) -> str | None:
        if len(word) > self._longest:
            return None
        self._checker.distance = 2 if len(word) <= _LONG else 1
        return self._checker.correction(word)


def corrects(language: str) -> bool:
    """Return whether there is a list of words of a language."""
    return language in SpellChecker.languages()
