"""What people are asked of a paraphrase: three modes, and what an answer is in each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from workflow_scripts.core.statistics.numbers import finite
from workflow_scripts.stages.judge.rating_file import (
    GRAMMATICAL,
    NONSENSICAL,
    PERFECT,
    UNGRAMMATICAL,
)

Mode = Literal["similarity", "labels", "strength"]
# `similarity`: a slider and two boxes (ParaBank, 5.3 and 5.5). `labels`: good, acceptable or bad.
# `strength`: of the paraphrase relation and of the fluency, 1 to 3 each (ParaNMT, section 3.2).
MODES: tuple[Mode, ...] = ("similarity", "labels", "strength")
# Paraphrases on a page at most, a control among them (ParaBank, 5.3).
SLOTS: dict[Mode, int] = {"similarity": 5, "labels": 1, "strength": 1}
LABELS = {"G": "Good", "A": "Acceptable", "B": "Bad"}
# ParaNMT's guidelines, in its words as far as they are short.
STRENGTH = {
    3: "same meaning; unimportant details may differ",
    2: "roughly equivalent; some important information is missing or differs slightly",
    1: "not equivalent, even if minor details are shared",
}
FLUENCY = {
    3: "no grammatical error",
    2: "one or two grammatical errors",
    1: "more than two errors, or not natural",
}


@dataclass(frozen=True)
class Answer:
    """What one person said of one paraphrase; None is what the mode does not ask."""

    score: float | None = None
    """0 to 100; None of nonsense."""
    grammar: int | None = None
    """As `gm` of a ratings file."""
    label: str | None = None
    """One of `LABELS`."""
    strength: int | None = None
    fluency: int | None = None


class UnansweredError(Exception):
    """An answer is missing, or is not one of those offered; the message tells the annotator."""


def read_answer(mode: Mode, fields: Mapping[str, str], position: int) -> Answer:
    """Return the answer on the paraphrase at a place of a page.

    Args:
        mode: what was asked.
        fields: those of the form, by name; each ends with the place.
        position: the place, from 1.

    Raises:
        UnansweredError: a field is missing or has another value.
    """

    def field(name: str) -> str:
        return fields.get(f"{name}_{position}", "").strip()

    if mode == "labels":
        if field("label") not in LABELS:
            raise UnansweredError("Say whether it is good, acceptable or bad.")
        return Answer(label=field("label"))
    if mode == "strength":
        marks = field("strength"), field("fluency")
        if not all(mark in ("1", "2", "3") for mark in marks):
            raise UnansweredError("Give both marks, each from 1 to 3.")
        return Answer(strength=int(marks[0]), fluency=int(marks[1]))
    if field("nonsensical"):
        return Answer(grammar=NONSENSICAL)
    try:
        score = finite(field("score"))
    except ValueError as error:
        raise UnansweredError("Move the slider, or call the paraphrase nonsensical.") from error
    if not 0 <= score <= PERFECT:
        raise UnansweredError("The similarity is a number from 0 to 100.")
    return Answer(score=score, grammar=UNGRAMMATICAL if field("ungrammatical") else GRAMMATICAL)


def label_of(strength: int, fluency: int) -> str:
    """Return the label that a pair of marks stands for: the lower mark decides."""
    return {3: "G", 2: "A", 1: "B"}[min(strength, fluency)]
