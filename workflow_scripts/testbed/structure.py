"""What a testbed sentence means: frozen, hashable, and the same for both languages.

Words appear as the concepts of the lexicon. Whatever a language shows by inflection, function words
or order is an attribute. Two sentences mean the same when their `Meaning`s are equal.
"""

from dataclasses import dataclass
from typing import Literal

Mood = Literal["statement", "question", "confirmation"]
Frame = Literal[
    "transitive", "ditransitive", "intransitive", "motion", "clausal", "copular", "existential"
]
# `present` is going on now (or holds, for states); `habitual` comes with a frequency adverb;
# `eventual` is the future event of a subordinate clause, in English in the present tense.
Tense = Literal[
    "past", "past_progressive", "present", "habitual", "future", "eventual", "must", "can"
]
Number = Literal["singular", "plural"]

# Concept of the subject in "someone wrote the letter".
SOMEONE = "someone"


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A participant: a noun with what modifies it, a name, or a pronoun.

    Attributes:
        head: concept of a noun or name, or an English subject pronoun, or `SOMEONE`.
        kind: which of these.
        number: of the noun; pronouns and names have theirs by nature.
        determiner: "the", "a" (plural "some"), "this", a possessor ("my" ...), or a numeral
            ("two" ...); None for names and pronouns and where a possessor phrase stands instead.
        adjective: concept of an attribute.
        possessor: whose it is, a plain phrase.
        relative: what it is doing.
    """

    head: str
    kind: Literal["noun", "name", "pronoun"] = "noun"
    number: Number = "singular"
    determiner: str | None = "the"
    adjective: str | None = None
    possessor: "NounPhrase | None" = None
    relative: "Relative | None" = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is or goes.

    Attributes:
        relation: key of `vocabulary.RELATIONS` or `vocabulary.DIRECTIONS`; or the concept of an
            adverb of place, without `phrase`.
    """

    relation: str
    phrase: NounPhrase | None = None


@dataclass(frozen=True, slots=True)
class Relative:
    """What the head noun is doing, as in "the woman (who is) reading the letter".

    Attributes:
        verb: concept; transitive with `object`, or intransitive with `place`.
        past: the clause around it is in a past tense, and so is this one. None only while a
            sentence is parsed: "the woman reading the letter" alone does not show it.
    """

    verb: str
    past: bool | None
    object: NounPhrase | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """Who does what, when, where and how.

    Attributes:
        frame: tells which participants there are.
        verb: concept; "be" in copular and existential clauses.
        quality: concept of the predicate adjective of a copular clause.
        degree: concept of the adverb that modifies `quality`.
        recipient: of a ditransitive verb.
        goal: of a motion verb.
        manner, frequency, time: concepts of adverbs.
        attitude: concept of what the speaker thinks of it: "fortunately", "probably".
    """

    frame: Frame
    subject: NounPhrase
    verb: str
    tense: Tense
    negative: bool = False
    object: NounPhrase | None = None
    recipient: NounPhrase | None = None
    quality: str | None = None
    degree: str | None = None
    goal: Place | None = None
    manner: str | None = None
    frequency: str | None = None
    place: Place | None = None
    time: str | None = None
    attitude: str | None = None

    @property
    def topic(self) -> str:
        """The concept that stands for the clause: its verb, or what someone is, or what exists."""
        if self.frame == "existential":
            return self.subject.head
        return self.quality or self.verb

    @property
    def past(self) -> bool:
        """Whether its tense is a past one."""
        return self.tense in ("past", "past_progressive")


@dataclass(frozen=True, slots=True)
class Meaning:
    """One sentence: a clause, and maybe a second one that `connective` ties to it.

    Attributes:
        mood: statement; yes/no question; or a statement that asks for confirmation.
        connective: concept of a conjunction; "that" makes `subordinate` the content of `main`.
    """

    mood: Mood
    main: Clause
    connective: str | None = None
    subordinate: Clause | None = None

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The one or two clauses."""
        return (self.main,) if self.subordinate is None else (self.main, self.subordinate)

    @property
    def tied(self) -> tuple[str, Clause] | None:
        """The connective and the clause that it ties to the main one; None of a single clause.

        Raises:
            ValueError: there is one of them without the other.
        """
        if self.connective is not None and self.subordinate is not None:
            return self.connective, self.subordinate
        if self.connective is None and self.subordinate is None:
            return None
        raise ValueError(f"a connective and a second clause need each other: {self}")


# Connectives of clauses that may be in the tense "eventual".
EVENTUAL = frozenset({"if", "when", "before", "after", "until"})


def _exists(clause: Clause) -> bool:
    """Return whether an existential clause is positive and its subject new to the hearer."""
    subject = clause.subject
    bare = subject.possessor is None and subject.relative is None
    new = subject.kind == "noun" and subject.determiner not in _DEFINITE
    return bare and new and not clause.negative


_DEFINITE = frozenset({None, "the", "this", "my", "your", "his", "her", "our", "their"})


def well_formed(meaning: Meaning) -> bool:
    """Return whether tenses, connectives and frames go together, as in all testbed meanings."""
    subordinate = meaning.subordinate
    if any(one.frame == "existential" and not _exists(one) for one in meaning.clauses):
        return False
    if meaning.main.tense == "eventual":
        return False
    if subordinate is None:
        return meaning.main.frame != "clausal"
    if subordinate.tense == "eventual":
        return meaning.connective in EVENTUAL and not meaning.main.past
    return True
