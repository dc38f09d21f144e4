"""The participants of a meaning, and the same meaning with another one in their place."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from workflow_scripts.testbed.structure import Clause, Meaning, NounPhrase


@dataclass(frozen=True, slots=True)
class Participant:
    """A phrase that takes part in a meaning.

    Attributes:
        meaning: all of it.
        clause: which of its clauses.
        slot: the attribute of the clause that holds the phrase.
        phrase: the participant.
    """

    meaning: Meaning
    clause: Literal["main", "subordinate"]
    slot: Literal["subject", "object", "recipient"]
    phrase: NounPhrase

    def exchanged(self, phrase: NounPhrase) -> Meaning:
        """Return the meaning with another phrase in the place of this one."""
        if self.clause == "main":
            return replace(self.meaning, main=self._with(self.meaning.main, phrase))
        if self.meaning.subordinate is None:
            raise ValueError(f"the meaning has one clause only: {self.meaning}")
        return replace(self.meaning, subordinate=self._with(self.meaning.subordinate, phrase))

    def _with(self, clause: Clause, phrase: NounPhrase) -> Clause:
        if self.slot == "subject":
            return replace(clause, subject=phrase)
        if self.slot == "object":
            return replace(clause, object=phrase)
        return replace(clause, recipient=phrase)


def participants(what: Meaning) -> Iterator[Participant]:
    """Yield the participants: subject, object and recipient of the main clause, then the other."""
    yield from _of(what, "main", what.main)
    if what.subordinate is not None:
        yield from _of(what, "subordinate", what.subordinate)


def _of(
    what: Meaning, name: Literal["main", "subordinate"], clause: Clause
) -> Iterator[Participant]:
    yield Participant(what, name, "subject", clause.subject)
    if clause.object is not None:
        yield Participant(what, name, "object", clause.object)
    if clause.recipient is not None:
        yield Participant(what, name, "recipient", clause.recipient)
