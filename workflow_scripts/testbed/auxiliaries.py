"""English verb groups: every way to write a tense, with the words before and after the subject.

The table `GROUPS` lists them all and serves both directions: generation finds a group by what it
means, parsing by its words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workflow_scripts.testbed.forest import Mark
from workflow_scripts.testbed.structure import Clause

# (part-of-speech tag, word)
TaggedWords = tuple[tuple[str, str], ...]
# The tenses of `Clause` as English tells them apart: "simple" is "reads".
EnglishTense = Literal["simple", "past", "past_progressive", "present", "future", "must", "can"]

PERSONS = ("I", "he", "they")
_BE = {"I": ("VBP", "am"), "he": ("VBZ", "is"), "they": ("VBP", "are")}
_WAS = {"I": ("VBD", "was"), "he": ("VBD", "was"), "they": ("VBD", "were")}
_DO = {"I": ("VBP", "do"), "he": ("VBZ", "does"), "they": ("VBP", "do")}
_HAVE = {"I": ("VBP", "have"), "he": ("VBZ", "has"), "they": ("VBP", "have")}
_DID = ("VBD", "did")
_TO = ("TO", "to")
_NOT = ("RB", "not")
_SHORT_NOT = ("RB", "n't")
# Stems that change before n't (the Penn Treebank writes "wo n't", "ca n't").
_BEFORE_NT = {"will": "wo", "can": "ca"}
_CLITICS = {"am": "'m", "is": "'s", "are": "'re", "will": "'ll"}


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The auxiliaries of one verb group.

    Attributes:
        key: the English tense, see `tense_key`.
        negative: whether it denies.
        person: agreement class of the subject, one of `PERSONS`.
        passive: whether a participle follows. The verb "be" itself counts as passive: its
            complement stands where the participle would.
        lead: words before the subject; empty in declarative order.
        rest: words between subject and verb.
        form: the form of the verb that follows.
        marks: the choices that it stands for.
        clitic: it is contracted with the subject ("he's"), which must be a pronoun.
        operator: its first auxiliary, which a question tag repeats.
    """

    key: EnglishTense
    negative: bool
    person: str
    passive: bool
    lead: TaggedWords
    rest: TaggedWords
    form: str
    marks: tuple[Mark, ...]
    clitic: bool
    operator: str


@dataclass(frozen=True, slots=True)
class _Chain:
    """What the groups of one tense share: an operator, and what follows it.

    The operator takes "not", and stands before the subject in questions.

    Attributes:
        plain: what replaces operator and rest in positive declaratives (no "do" there).
        polarity: True: only negative groups use it; False: only positive ones; None: both do.
        built_in: it is negative without "not" ("unable").
    """

    key: EnglishTense
    operator: tuple[str, str]
    rest: TaggedWords
    form: str
    marks: tuple[Mark, ...] = ()
    plain: tuple[TaggedWords, str] | None = None
    polarity: bool | None = None
    built_in: bool = False


def tense_key(clause: Clause, stative: bool) -> EnglishTense:
    """Return the English tense of a clause; states have no progressive."""
    if clause.tense == "habitual" or clause.tense == "eventual":
        return "simple"
    return "simple" if clause.tense == "present" and stative else clause.tense


def _active_chains(person: str) -> Iterator[_Chain]:
    simple = "third" if person == "he" else "base"
    be, have = _BE[person], _HAVE[person]
    yield _Chain("past", _DID, (), "base", plain=((), "past"))
    yield _Chain("simple", _DO[person], (), "base", plain=((), simple))
    yield _Chain("present", be, (), "gerund")
    yield _Chain("past_progressive", _WAS[person], (), "gerund")
    yield from _modal_chains(person)
    yield _Chain(
        "must",
        _DO[person],
        (("VB", "have"), _TO),
        "base",
        (("modal", "have to"),),
        plain=((have, _TO), "base"),
    )
    able: tuple[Mark, ...] = (("modal", "able"),)
    yield _Chain("can", be, (("JJ", "able"), _TO), "base", able)
    unable: tuple[Mark, ...] = (("modal", "unable"),)
    yield _Chain("can", be, (("JJ", "unable"), _TO), "base", unable, polarity=True, built_in=True)


def _modal_chains(person: str) -> Iterator[_Chain]:
    """Yield the chains that active and passive share, in the form of the active."""
    yield _Chain("future", ("MD", "will"), (), "base", (("future", "will"),))
    going = (("VBG", "going"), _TO)
    yield _Chain("future", _BE[person], going, "base", (("future", "going to"),))
    yield _Chain("must", ("MD", "must"), (), "base", (("modal", "must"),), polarity=False)
    yield _Chain("must", ("MD", "need"), (), "base", (("modal", "need"),), polarity=True)
    yield _Chain("can", ("MD", "can"), (), "base", (("modal", "can"),))


def _passive_chains(person: str) -> Iterator[_Chain]:
    yield _Chain("past", _WAS[person], (), "participle")
    yield _Chain("simple", _BE[person], (), "participle")
    being = (("VBG", "being"),)
    yield _Chain("present", _BE[person], being, "participle")
    yield _Chain("past_progressive", _WAS[person], being, "participle")
    be = ("VB", "be")
    for chain in _modal_chains(person):
        yield _Chain(
            chain.key,
            chain.operator,
            (*chain.rest, be),
            "participle",
            chain.marks,
            polarity=chain.polarity,
        )
    yield _Chain(
        "must",
        _DO[person],
        (("VB", "have"), _TO, be),
        "participle",
        (("modal", "have to"),),
        plain=((_HAVE[person], _TO, be), "participle"),
    )


# Only contracted groups have a mark; groups written in full have none.
_SHORT: tuple[Mark, ...] = (("contraction", "short"),)


def _positive(chain: _Chain, person: str, passive: bool) -> Iterator[Group]:
    """Yield the groups of a chain without "not": declarative, inverted, contracted."""
    tag, operator = chain.operator
    common = (chain.key, chain.built_in, person, passive)
    rest, form = chain.plain or (((tag, operator), *chain.rest), chain.form)
    contracts = chain.plain is None and operator in _CLITICS
    yield Group(*common, (), rest, form, chain.marks, False, operator)
    if contracts:
        short = ((tag, _CLITICS[operator]), *chain.rest)
        yield Group(*common, (), short, form, chain.marks + _SHORT, True, operator)
    lead = ((tag, operator),)
    yield Group(*common, lead, chain.rest, chain.form, chain.marks, False, operator)


def _negative(chain: _Chain, person: str, passive: bool) -> Iterator[Group]:
    """Yield the groups of a chain with "not": full and contracted, declarative and inverted."""
    tag, operator = chain.operator
    common = (chain.key, True, person, passive)
    short = chain.marks + _SHORT
    word, end = (tag, operator), (chain.form, chain.marks, False, operator)
    inverts = operator != "need"  # "need the man not read" is archaic
    yield Group(*common, (), (word, _NOT, *chain.rest), *end)
    if inverts:
        yield Group(*common, (word,), (_NOT, *chain.rest), *end)
    if operator in _CLITICS and operator != "will":
        leaning = ((tag, _CLITICS[operator]), _NOT, *chain.rest)
        yield Group(*common, (), leaning, chain.form, short, True, operator)
    if operator != "am":
        stem = ((tag, _BEFORE_NT.get(operator, operator)), _SHORT_NOT)
        end = (chain.form, short, False, operator)
        yield Group(*common, (), (*stem, *chain.rest), *end)
        if inverts:
            yield Group(*common, stem, chain.rest, *end)


def _groups() -> Iterator[Group]:
    for person in PERSONS:
        for passive, chains in ((False, _active_chains), (True, _passive_chains)):
            for chain in chains(person):
                if chain.polarity is not True or chain.built_in:
                    yield from _positive(chain, person, passive)
                if chain.polarity is not False and not chain.built_in:
                    yield from _negative(chain, person, passive)


GROUPS: tuple[Group, ...] = tuple(_groups())
