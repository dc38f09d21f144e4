"""The meanings of an English sentence: a chart parser with the rules that generate sentences."""

from collections.abc import Iterator
from dataclasses import dataclass

from workflow_scripts.testbed.chart import Chart
from workflow_scripts.testbed.clauses import THATLESS
from workflow_scripts.testbed.constituents import Marks, Parsed, Stated
from workflow_scripts.testbed.question_tags import question_tags
from workflow_scripts.testbed.structure import Meaning, Mood, well_formed
from workflow_scripts.testbed.treebank_tokens import tokenised


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand a sentence, and the choices of words and forms behind it."""

    meaning: Meaning
    variations: Marks


def _reading(
    marks: Marks,
    mood: Mood,
    main: Parsed[Stated],
    connective: str | None = None,
    subordinate: Parsed[Stated] | None = None,
) -> Reading:
    marks += main.marks
    if subordinate is None:
        return Reading(Meaning(mood, main.value.clause), tuple(sorted(marks)))
    meaning = Meaning(mood, main.value.clause, connective, subordinate.value.clause)
    return Reading(meaning, tuple(sorted(marks + subordinate.marks)))


def _statements(chart: Chart, last: int) -> Iterator[Reading]:
    for main in chart.find("declarative", 0):
        if main.value.clause.frame == "clausal":
            yield from _contents(chart, main, last)
        elif main.end == last:
            yield _reading((), "statement", main)
        else:
            yield from _main_first(chart, main, last)
    for connective in chart.find("connective", 0):
        for subordinate in _unfronted(chart, connective.end):
            if chart.tokens[subordinate.end] != ",":
                continue
            marks = (*connective.marks, ("clause order", "subordinate first"))
            for main in _unfronted(chart, subordinate.end + 1):
                if main.end == last:
                    yield _reading(marks, "statement", main, connective.value, subordinate)


def _unfronted(chart: Chart, start: int) -> Iterator[Parsed[Stated]]:
    """Yield the clauses that begin with their subject and may depend on another one."""
    for parsed in chart.find("declarative", start):
        if not parsed.value.rule.front and parsed.value.clause.frame != "clausal":
            yield parsed


def _contents(chart: Chart, main: Parsed[Stated], last: int) -> Iterator[Reading]:
    starts = [(main.end, ("that", "dropped"))] if main.value.clause.verb in THATLESS else []
    if chart.tokens[main.end] == "that":
        starts.append((main.end + 1, ("that", "said")))
    for start, mark in starts:
        for subordinate in _unfronted(chart, start):
            if subordinate.end == last:
                yield _reading((mark,), "statement", main, "that", subordinate)


def _main_first(chart: Chart, main: Parsed[Stated], last: int) -> Iterator[Reading]:
    for connective in chart.find("connective", main.end):
        marks = (*connective.marks, ("clause order", "main first"))
        for subordinate in _unfronted(chart, connective.end):
            if subordinate.end == last:
                yield _reading(marks, "statement", main, connective.value, subordinate)


def _questions(chart: Chart, last: int) -> Iterator[Reading]:
    for main in chart.find("inverted", 0):
        if main.end == last:
            yield _reading((("question", "inverted"),), "question", main)
    if chart.tokens[:4] == ["is", "it", "true", "that"]:
        for main in _unfronted(chart, 4):
            if main.end == last:
                yield _reading((("question", "is it true"),), "question", main)
    for main in chart.find("declarative", 0):
        if chart.tokens[main.end] == ",":
            said = tuple(chart.tokens[main.end + 1 : last])
            for words, mark in question_tags(*main.value):
                if said == tuple(word.lower() for _, word in words):
                    yield _reading((mark,), "confirmation", main)


def readings(sentence: str) -> list[Reading]:
    """Return every way to understand a sentence; none if the sentence is not in the grammar.

    Letter case and blanks don't matter; punctuation does.
    """
    tokens = tokenised(sentence)
    if not tokens or tokens[-1] not in (".", "?"):
        return []
    last = len(tokens) - 1
    find = _statements if tokens[-1] == "." else _questions
    understood = [one for one in find(Chart(tokens), last) if well_formed(one.meaning)]
    return list(dict.fromkeys(understood))
