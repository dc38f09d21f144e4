"""How English verbs, relative pronouns and question tags agree with a noun phrase."""

from functools import cache

from workflow_scripts.testbed.structure import SOMEONE, NounPhrase
from workflow_scripts.testbed.word_list import LEXICON

_NOUNS = {noun.concept: noun for noun in LEXICON.nouns}
_NAMES = {name.concept: name for name in LEXICON.names}
_PERSONS = {"I": "I", "you": "they", "we": "they", "they": "they"}


def person(phrase: NounPhrase) -> str:
    """Return the agreement class of a subject, one of `auxiliaries.PERSONS`."""
    if phrase.kind == "pronoun":
        return _PERSONS.get(phrase.head, "he")
    return "they" if phrase.kind == "noun" and phrase.number == "plural" else "he"


def is_personal_pronoun(phrase: NounPhrase) -> bool:
    """Return whether a verb can be contracted with it ("he's")."""
    return phrase.kind == "pronoun" and phrase.head != SOMEONE


@cache
def relativizer(concept: str) -> str:
    """Return the kind of relative pronouns that a noun takes: "person" (who) or "thing" (which)."""
    return "person" if _NOUNS[concept].kind == "person" else "thing"


def tag_pronoun(phrase: NounPhrase) -> str | None:
    """Return the pronoun that stands for a subject in a question tag, if there is one.

    Persons have the natural gender that Czech nouns and names show.
    """
    if phrase.kind == "pronoun":
        return None if phrase.head == SOMEONE else phrase.head
    if phrase.kind == "name":
        return "she" if _NAMES[phrase.head].gender == "f" else "he"
    if phrase.number == "plural":
        return "they"
    noun = _NOUNS[phrase.head]
    return {"ma": "he", "f": "she"}.get(noun.gender, "it") if noun.kind == "person" else "it"
