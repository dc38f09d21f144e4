"""The forms of English words, from lemminflect's dictionary (ParaBank, 3.2).

Where no tagger says what a word is, it has the forms of every lemma and part of speech that it may
belong to.
"""

from functools import lru_cache

from workflow_scripts.core.text.english_forms import getAllInflections, getAllLemmas
from workflow_scripts.stages.generate.parts_of_speech import INFLECTED, VERB

Parts = frozenset[str] | None


@lru_cache(maxsize=1 << 16)
def inflections(word: str, parts: Parts = None) -> tuple[str, ...]:
    """Return all forms of a word, itself included, sorted.

    A word that the dictionary doesn't know has no others.

    Args:
        word: in lower case.
        parts: its coarse parts of speech; None: all that the dictionary has for it.
    """
    tags = [None] if parts is None else sorted(parts & INFLECTED)
    return tuple(sorted({word}.union(*(_forms(word, tag) for tag in tags))))


@lru_cache(maxsize=1 << 16)
def other_verb_forms(word: str, parts: Parts = None) -> tuple[str, ...]:
    """Return the other forms of a verb, sorted; none where the word is no verb.

    Args:
        word: in lower case.
        parts: its coarse parts of speech; None: it is a verb if it can be one.
    """
    is_verb = parts is None or VERB in parts
    return tuple(sorted(_forms(word, VERB) - {word})) if is_verb else ()


def _forms(word: str, tag: str | None) -> set[str]:
    lemmas = getAllLemmas(word, upos=tag)
    return {
        form
        for pos, of_pos in lemmas.items()
        for lemma in of_pos
        for forms in getAllInflections(lemma, upos=pos).values()
        for form in forms
        if form.isalpha() and form == form.lower()
    }
