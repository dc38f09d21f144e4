"""How well a rewriter follows templates, next to the same model without them.

A paraphrase meets a template if the top two levels of its parse are the template. On held-out pairs
the rewriter is asked for the template of the pair's target (Iyyer et al., 2018, test so), and for
each of the most frequent templates.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isnan
from statistics import fmean
from typing import Any

import numpy as np

from workflow_scripts.core.statistics.bootstrap import interval, resampled
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.rewrite.syntax_templates import Template, template_of
from workflow_scripts.stages.rewrite.template_pairs import Parsed

# What is asked for, and what is read: by name, whether the asked template is the target's or one
# of the most frequent, and which template stands in front of the sentence.
TARGET, OWN, FREE = "target", "own", "free"
FREQUENT, FREQUENT_FREE = "frequent", "frequent_free"
SETTINGS = (TARGET, OWN, FREE, FREQUENT, FREQUENT_FREE)


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence to paraphrase.

    Attributes:
        setting: of `SETTINGS`.
        id: of the pair that the sentence is from.
        sentence: the original.
        own: its template.
        asked: the template that a paraphrase must have to meet it.
        read: the template in front of the sentence; None: it is left free.
    """

    setting: str
    id: str
    sentence: str
    own: str
    asked: str
    read: str | None


@dataclass(frozen=True, slots=True)
class Output:
    """A paraphrase.

    Attributes:
        text: of it.
        nll: per token, in nats.
        template: of its parse; None where there is no tree.
    """

    text: str
    nll: float
    template: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found for a question.

    Attributes:
        question: asked.
        first: best of the beam; None if the search found nothing.
        best: the first of the beam whose parse meets the template; `first` if none does.
    """

    question: Question
    first: Output | None
    best: Output | None

    @property
    def met(self) -> bool:
        """Whether the best of the beam meets the template."""
        return _meets(self.first, self.question)

    @property
    def met_best(self) -> bool:
        """Whether one of the beam meets the template."""
        return _meets(self.best, self.question)


def _meets(output: Output | None, question: Question) -> bool:
    return output is not None and output.template == question.asked


# Sentences and templates to n-best lists of text and NLL; sentences to trees in brackets; pairs of
# sentences to numbers, NaN where there is none.
Search = Callable[[Sequence[tuple[str | None, str]]], Iterator[list[tuple[str, float]]]]
Parse = Callable[[list[str]], list[str | None]]
Score = Callable[[Sequence[tuple[str, str]]], Iterable[float]]


def questions(pairs: Iterable[Parsed], frequent: Sequence[Template]) -> Iterator[Question]:
    """Yield what is asked of held-out pairs; a sentence is asked for frequent templates once.

    Args:
        pairs: with their sides as they are read and written.
        frequent: the most frequent templates.
    """
    seen: set[str] = set()
    for pair in pairs:
        identifier, sentence, own = pair.row["id"], pair.row["source"], pair.own
        for setting, read in ((TARGET, pair.wanted), (OWN, own), (FREE, None)):
            yield Question(setting, identifier, sentence, own, pair.wanted, read)
        if sentence in seen:
            continue
        seen.add(sentence)
        for entry in frequent:
            asked = entry.template
            yield Question(FREQUENT, identifier, sentence, own, asked, asked)
            yield Question(FREQUENT_FREE, identifier, sentence, own, asked, None)


def answers(asked: Sequence[Question], search: Search, parse: Parse) -> list[Answer]:
    """Return the answer to each question, in order; each distinct input is searched once.

    Args:
        asked: the questions.
        search: gives the n-best lists, best first, of inputs (template or None, sentence).
        parse: gives the trees of texts.
    """
    inputs = list(dict.fromkeys((question.read, question.sentence) for question in asked))
    lists = dict(zip(inputs, search(inputs), strict=True))
    texts = list(dict.fromkeys(text for nbest in lists.values() for text, _ in nbest))
    trees = zip(texts, parse(texts), strict=True)
    of_text = {text: None if tree is None else template_of(tree) for text, tree in trees}
    result = []
    for question in asked:
        nbest = lists[question.read, question.sentence]
        outputs = [Output(text, nll, of_text[text]) for text, nll in nbest]
        first = outputs[0] if outputs else None
        best = next((output for output in outputs if _meets(output, question)), first)
        result.append(Answer(question, first, best))
    return result


@dataclass
class Scores:
    """Numbers of pairs (original, paraphrase), each computed once; with their names.

    Attributes:
        scorers: by name.
        known: by name and pair.
    """

    scorers: dict[str, Score]
    known: dict[str, dict[tuple[str, str], float]] = field(default_factory=dict)

    def learn(self, answered: Sequence[Answer]) -> None:
        """Compute the numbers of all paraphrases of some answers; there may be none."""
        pairs = [
            (answer.question.sentence, output.text)
            for answer in answered
            for output in (answer.first, answer.best)
            if output is not None
        ]
        distinct = list(dict.fromkeys(pairs))
        for name, score in self.scorers.items():
            numbers = map(float, score(distinct)) if distinct else ()
            self.known[name] = dict(zip(distinct, numbers, strict=True))

    def of(self, name: str, question: Question, output: Output | None) -> float | None:
        """Return the number of a paraphrase; None where there is no paraphrase."""
        return None if output is None else self.known[name][question.sentence, output.text]


def measures(
    answered: Sequence[Answer], scores: Scores, samples: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Return the measures of each setting that has answers.

    Args:
        answered: all answers.
        scores: that have learnt them.
        samples: bootstrap samples behind an interval; whole sentences are drawn.
        seed: of the draws.

    Returns:
        By setting: `answers`; `sentences`; `without_output`; `without_tree`; `met` and `met_best`,
        x 100, with their intervals; `copies`, x 100: the paraphrase is the original; `distinct`:
        different paraphrases of a sentence, on average; and the mean of each score, under its name
        of the best of the beam, under `<name>_best` of the best that meets the template, and under
        `<name>_where_met` of those alone that meet it. None where there is nothing to average.
    """
    result = {}
    for setting in SETTINGS:
        chosen = [answer for answer in answered if answer.question.setting == setting]
        if chosen:
            result[setting] = _measures(chosen, scores, samples, seed)
    return result


def _measures(chosen: Sequence[Answer], scores: Scores, samples: int, seed: int) -> dict[str, Any]:
    by_sentence: dict[str, list[Answer]] = {}
    for answer in chosen:
        by_sentence.setdefault(answer.question.sentence, []).append(answer)
    groups = list(by_sentence.values())
    blocks = np.array(
        [
            [
                len(group),
                sum(answer.met for answer in group),
                sum(answer.met_best for answer in group),
            ]
            for group in groups
        ],
        np.int64,
    )
    drawn = np.concatenate(list(resampled(blocks, samples, seed)))
    shares = 100 * blocks.sum(0)[1:] / blocks.sum(0)[0]
    intervals = [interval(100 * drawn[:, place] / drawn[:, 0]) for place in (1, 2)]
    outputs = [answer.first for answer in chosen]
    texts = [{answer.first.text for answer in group if answer.first} for group in groups]
    copies = sum(
        answer.first is not None and answer.first.text == answer.question.sentence
        for answer in chosen
    )
    return {
        "answers": len(chosen),
        "sentences": len(groups),
        "without_output": outputs.count(None),
        "without_tree": sum(output is not None and output.template is None for output in outputs),
        "met": _round(shares[0]),
        "met_interval": intervals[0],
        "met_best": _round(shares[1]),
        "met_best_interval": intervals[1],
        "copies": _round(100 * copies / len(chosen)),
        "distinct": _round(fmean(map(len, texts))),
        **{key: value for name in scores.scorers for key, value in _score(chosen, scores, name)},
    }


def _score(
    chosen: Sequence[Answer], scores: Scores, name: str
) -> Iterator[tuple[str, float | None]]:
    yield name, _mean(scores.of(name, answer.question, answer.first) for answer in chosen)
    best = [(answer.met_best, scores.of(name, answer.question, answer.best)) for answer in chosen]
    yield f"{name}_best", _mean(value for _, value in best)
    yield f"{name}_where_met", _mean(value for met, value in best if met)


def _round(value: float) -> float:
    return round(float(value), DECIMALS)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None and not isnan(value)]
    return _round(fmean(known)) if known else None


def by_template(
    answered: Sequence[Answer], frequent: Sequence[Template], scores: Scores
) -> list[dict[str, Any]]:
    """Return how each of the most frequent templates is met, in their order."""
    rows = []
    for template in frequent:
        chosen = [
            answer
            for answer in answered
            if answer.question.setting == FREQUENT and answer.question.asked == template.template
        ]
        rows.append(
            {
                "template": template.template,
                "count": template.count,
                "answers": len(chosen),
                "met": _round(100 * fmean(answer.met for answer in chosen)),
                "met_best": _round(100 * fmean(answer.met_best for answer in chosen)),
                **{
                    name: _mean(scores.of(name, answer.question, answer.first) for answer in chosen)
                    for name in scores.scorers
                },
            }
        )
    return rows


def examples(answered: Sequence[Answer], sentences: int) -> list[dict[str, Any]]:
    """Return some originals with their paraphrases by template (ParaNMT-50M, Table 11).

    Returns:
        For each `original` its `template` and `paraphrases`: `template`, `paraphrase` and `met`,
        those of the frequent templates that the chosen paraphrase has.
    """
    grouped: dict[str, list[Answer]] = {}
    for answer in answered:
        if answer.question.setting == FREQUENT and answer.best is not None:
            grouped.setdefault(answer.question.sentence, []).append(answer)
    return [
        {
            "original": original,
            "template": group[0].question.own,
            "paraphrases": [
                {
                    "template": answer.question.asked,
                    "paraphrase": answer.best.text,
                    "met": answer.met_best,
                }
                for answer in group
                if answer.best is not None
            ],
        }
        for original, group in list(grouped.items())[:sentences]
    ]
