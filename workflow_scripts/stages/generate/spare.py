"""Words that constraints may not forbid: names, numbers, or those of a list."""

from typing import Any

from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.generate.constraint_words import (
    Split,
    Word,
    between_blanks,
    words_of,
)

# Before a word they say that a sentence, or a quoted one, begins with it.
OPENING = frozenset("\"'`“”„‘’‚«»‹›¿¡")
# After a token they say that a sentence has ended; a full stop only after a word in lower case.
ENDING = frozenset("!?…:;")


class Spare:
    """Tells which words of a sentence may not be forbidden.

    Args:
        config: the `spare` block: `capitalised` (None, "inside" or "everywhere"), `digits`,
            `words`.
        split: gives the words of a sentence.
    """

    def __init__(self, config: dict[str, Any], split: Split = between_blanks):
        config = filled(config, "spare")
        self._split = split
        self._capitalised = config["capitalised"]
        self._digits = config["digits"]
        self._words = {word.lower() for word in config["words"]}

    def lists(self, word: str) -> bool:
        """Tell whether a word is in the list, whatever its case."""
        return word.lower() in self._words

    def of(self, sentence: str, source: str = "") -> set[str]:
        """Return the words of a sentence that may not be forbidden, as they stand in it.

        A first word that its source has as well, capital letter and all, is taken for a name.
        """
        spared, names = set(), {word.text for word in words_of(source)}
        before = None
        for token in sentence.split():
            for word in self._split(token):
                starts = _starts(word, before) and word.text not in names
                if self._spares(word, starts):
                    spared.add(word.text)
            before = token
        return spared

    def _spares(self, word: Word, starts: bool) -> bool:
        if self.lists(word.text):
            return True
        if self._digits and any(map(str.isdigit, word.text)):
            return True
        # At the start of a sentence every word has a large first letter.
        text = word.text[1:] if starts and self._capitalised == "inside" else word.text
        return self._capitalised is not None and text != text.lower()


def _starts(word: Word, before: str | None) -> bool:
    """Tell whether a sentence begins with a word; `before` is the token before it."""
    if any(map(str.isalnum, word.lead)):  # "Paul" in "Jean-Paul"
        return False
    if before is None or not OPENING.isdisjoint(word.lead):
        return True
    bare = before.rstrip("".join(OPENING) + ")]")
    # "Mr. Smith" is no start. "I saw Tom. He ran." has one that is missed: `He` is spared then.
    return bare[-1:] in ENDING or (bare.endswith(".") and bare == bare.lower())
