"""The forms of English words, from lemminflect's dictionary (ParaBank, 3.2).

There is no tagger: a word has the forms of every lemma and part of speech it may belong to.
"""

from functools import lru_cache

from lemminflect import getAllInflections, getAllLemmas

VERB = "VERB"


@lru_cache(maxsize=1 << 16)
def inflections(word: str) -> tuple[str, ...]:
    """Return all forms of a word, itself included, sorted.

    A word that the dictionary doesn't know has no others.
    """
    return tuple(sorted({word, *_forms(word, None)}))


@lru_cache(maxsize=1 << 16)
def other_verb_forms(word: str) -> tuple[str, ...]:
    """Return the other forms of a word as a verb, sorted; none where it can't be one."""
    return tuple(sorted(_forms(word, VERB) - {word}))


def _forms(word: str, tag: str | None) -> set[str]:
    lemmas = getAllLemmas(word, upos=tag)
    return {
        form
        for each, found in lemmas.items()
        for lemma in found
        for forms in getAllInflections(lemma, upos=each).values()
        for form in forms
        if form.isalpha() and form == form.lower()
    }
