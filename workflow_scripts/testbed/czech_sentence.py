"""The one Czech sentence of a meaning."""

from typing import NamedTuple

from workflow_scripts.testbed import czech
from workflow_scripts.testbed.clauses import BE_FRAMES
from workflow_scripts.testbed.czech_phrases import (
    Agreement,
    agreement,
    goal,
    governed,
    noun_phrase,
    place,
)
from workflow_scripts.testbed.structure import Clause, Meaning, NounPhrase
from workflow_scripts.testbed.word_list import LEXICON, Verb

_CONNECTIVES = {
    "because": "protože",
    "although": "ačkoli",
    "when": "když",
    "while": "zatímco",
    "before": "dříve než",
    "after": "poté co",
    "if": "jestliže",
    "that": "že",
}
_MODALS = {"must": czech.MUST, "can": czech.CAN}


class _Predicate(NamedTuple):
    """A verb group: its finite word, its clitics, which go to the second place, and the rest."""

    finite: str
    clitics: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()


def _aspect(verb: Verb, tense: str) -> str:
    """Return the aspect of a verb in a tense; states have only the imperfective."""
    if verb.stative or verb.perfective is None or tense in _IMPERFECTIVE:
        return "imperfective"
    return "perfective"


_IMPERFECTIVE = frozenset({"past_progressive", "present", "habitual"})


def _verb_group(verb: Verb, tense: str, who: Agreement) -> _Predicate:
    aspect = _aspect(verb, tense)
    reflexive = (czech.clitic(verb, aspect),) if czech.clitic(verb, aspect) else ()
    if tense in ("past", "past_progressive"):
        auxiliary = czech.auxiliary(who.person, who.number)
        clitics = ((auxiliary,) if auxiliary else ()) + reflexive
        return _Predicate(czech.past(verb, aspect, who.gender, who.number), clitics)
    if tense in _MODALS:
        finite = czech.present_form(_MODALS[tense], who.person, who.number)
        return _Predicate(finite, reflexive, (czech.infinitive(verb, aspect),))
    if tense == "future":
        finite, *rest = czech.future(verb, aspect, who.person, who.number).split()
        return _Predicate(finite, reflexive, tuple(rest))
    return _Predicate(czech.present(verb, aspect, who.person, who.number), reflexive)


def _be(tense: str, who: Agreement) -> _Predicate:
    if tense == "past":
        auxiliary = czech.auxiliary(who.person, who.number)
        return _Predicate(czech.be_past(who.gender, who.number), (auxiliary,) if auxiliary else ())
    form = czech.be_future if tense == "future" else czech.be_present
    return _Predicate(form(who.person, who.number))


def _predicate(clause: Clause) -> _Predicate:
    who = agreement(clause.subject)
    if clause.frame in BE_FRAMES:
        group = _be(clause.tense, who)
    else:
        group = _verb_group(LEXICON.verb[clause.verb], clause.tense, who)
    return group._replace(finite=czech.negated(group.finite)) if clause.negative else group


def _adverb(concept: str | None) -> tuple[str, ...]:
    return tuple(LEXICON.adverb[concept].czech.split()) if concept else ()


def _subject(phrase: NounPhrase) -> tuple[str, ...]:
    """Return the subject; none for I, we and you, as the verb's ending shows them."""
    if phrase.kind == "pronoun" and phrase.head in ("I", "we", "you"):
        return ()
    return noun_phrase(phrase, "nom")


def _quality(clause: Clause) -> tuple[str, ...]:
    if clause.quality is None:
        return ()
    subject = clause.subject
    who = agreement(subject)
    adjective = LEXICON.adjective[clause.quality]
    return (*_adverb(clause.degree), czech.adjective(adjective, who.gender, "nom", who.number))


def _complements(clause: Clause) -> list[tuple[str, ...]]:
    """Return what follows the verb, in its usual order."""
    complements = [_quality(clause)]
    if clause.recipient:
        complements.append(noun_phrase(clause.recipient, "dat"))
    if clause.object:
        complements.append(governed(clause.object, LEXICON.verb[clause.verb]))
    if clause.goal:
        complements.append(goal(clause.goal))
    if clause.place and clause.frame != "existential":
        complements.append(place(clause.place))
    return complements


def _clause(clause: Clause, opening: tuple[str, ...] = (), *, asked: bool = False) -> list[str]:
    """Return the words of a clause; `opening`, a conjunction, counts as its first constituent.

    Clitics stand after the first constituent; a question begins with its verb.
    """
    finite, clitics, rest = _predicate(clause)
    attitude, time = _adverb(clause.attitude), _adverb(clause.time)
    how = _adverb(clause.frequency) + _adverb(clause.manner)
    subject, verb = _subject(clause.subject), (finite,)
    if clause.frame == "existential":
        there = place(clause.place)
        middle = [verb, there, subject] if asked else [there, verb, subject]
    elif asked:
        middle = [verb, subject, how, rest, *_complements(clause)]
    else:
        middle = [subject, how, verb, rest, *_complements(clause)]
    order = [opening, *middle, time] if asked else [opening, attitude, time, *middle]
    first, *others = [constituent for constituent in order if constituent]
    return [*first, *clitics, *(word for constituent in others for word in constituent)]


def _conjunction(connective: str, subordinate: Clause) -> tuple[str, ...]:
    """Return the conjunction; "when" is "až" if the event is still to come."""
    if connective == "when" and subordinate.tense == "eventual":
        return ("až",)
    return tuple(_CONNECTIVES[connective].split())


def _joined(words: list[str]) -> str:
    """Write words as a sentence; a comma is left out before another one and at the end."""
    text = ""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "," and following in (",", ".", "?"):
            continue
        text += word if word in (",", ".", "?") else " " + word
    text = text.strip()
    return text[:1].upper() + text[1:]


def source(meaning: Meaning) -> str:
    """Return the Czech sentence of a meaning; each meaning has exactly one."""
    asked = meaning.mood == "question"
    words = _clause(meaning.main, asked=asked)
    if meaning.tied:
        _, subordinate = meaning.tied
        words += [",", *_clause(subordinate, _conjunction(*meaning.tied))]
    if meaning.mood == "confirmation":
        words += [",", "že"]
    return _joined([*words, "." if meaning.mood == "statement" else "?"])
