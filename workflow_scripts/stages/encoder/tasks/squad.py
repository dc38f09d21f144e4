"""SQuAD 2.0 (Rajpurkar et al. 2018): its reader, and its measures as its own script has them."""

import json
import re
import string
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.catalogues.encoder_tasks import chosen_files
from workflow_scripts.stages.encoder.tasks.examples import (
    Question,
    TaskData,
    require_examples,
    task_data,
)

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
# The types of questions that Table 5 of ParaBank 2 tells apart.
TYPES = ("HasAns", "NoAns", "Total")


# --- reading -------------------------------------------------------------------------------------


def read_squad(folder: Path) -> TaskData[Question]:
    """Return the questions of SQuAD 2.0.

    An answer that does not stand where it should is left out and counted (`misplaced`); a
    question that loses all its answers so is left out of what is learnt from, and of nothing else.

    Raises:
        InputError: files are missing, or not as their format says.
    """
    train, dev = (folder / name for name in chosen_files("SQuAD", folder))
    learnt, misplaced = [], 0
    for question in _questions(train):
        in_place = tuple(
            (text, start)
            for text, start in question.answers
            if question.context[start:].startswith(text)
        )
        misplaced += len(question.answers) - len(in_place)
        if in_place or not question.answers:
            learnt.append(question._replace(answers=in_place))
    require_examples(train, learnt)
    tested = {"dev": _questions(dev)}
    return task_data(("train", learnt), tested, {}, {"train": {"misplaced": misplaced}})


def _questions(path: Path) -> list[Question]:
    try:
        articles = json.loads(path.read_bytes().decode("utf-8-sig"))["data"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is no file of SQuAD 2.0 ({str(error) or type(error).__name__}); get it again"
        ) from error
    questions, where = [], "data"
    try:
        for number, article in enumerate(articles):
            for place, paragraph in enumerate(article["paragraphs"]):
                where = f"data[{number}].paragraphs[{place}]"
                questions += [_question(block, paragraph["context"]) for block in paragraph["qas"]]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}, {where}: not as SQuAD 2.0 has it ({error!r}); get the file again"
        ) from error
    counts = Counter(question.number for question in questions)
    if twice := [number for number, count in counts.items() if count > 1]:
        raise InputError(f"{path}: the question {twice[0]} is there twice; get the file again")
    require_examples(path, questions)
    return questions


def _question(block: dict[str, Any], context: str) -> Question:
    answers = tuple((answer["text"], answer["answer_start"]) for answer in block["answers"])
    if block["is_impossible"] == bool(answers):
        raise ValueError(f"is_impossible of {block['id']} is not what its answers say")
    texts = [block["id"], block["question"], context, *(text for text, _ in answers)]
    numbers = [start for _, start in answers]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"a text of {block['id']} is no string")
    if not all(isinstance(start, int) and start >= 0 for start in numbers):
        raise TypeError(f"an answer_start of {block['id']} is no number of a character")
    return Question(block["id"], block["question"], context, answers)


# --- measures ------------------------------------------------------------------------------------


def normalised(text: str) -> str:
    """Return an answer as it is compared: lower case, no punctuation, no articles, one blank."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(gold: str, answer: str) -> float:
    """Return 1 if two answers are the same, normalised; else 0."""
    return float(normalised(gold) == normalised(answer))


def f1(gold: str, answer: str) -> float:
    """Return the F1 of the words of two answers; where one has none, 1 if neither has any."""
    one, other = normalised(gold).split(), normalised(answer).split()
    if not one or not other:
        return float(one == other)
    common = (Counter(one) & Counter(other)).total()
    # Of precision and recall; rounded as the script of SQuAD does.
    if not common:
        return 0.0
    precision, recall = common / len(other), common / len(one)
    return 2 * precision * recall / (precision + recall)


class Scores(NamedTuple):
    """What the answers to questions are worth, each of shape (questions,).

    Attributes:
        has_answer: whether the question has an answer.
        exact, f1: of the best gold answer, in [0, 1].
    """

    has_answer: NDArray[np.bool_]
    exact: NDArray[np.float64]
    f1: NDArray[np.float64]


def raw_scores(questions: Sequence[Question], answers: Sequence[str]) -> Scores:
    """Return what answers are worth as they are; an empty one says that there is none."""
    exact, overlap = [], []
    for question, answer in zip(questions, answers, strict=True):
        gold = [text for text, _ in question.answers if normalised(text)] or [""]
        exact.append(max(exact_match(text, answer) for text in gold))
        overlap.append(max(f1(text, answer) for text in gold))
    has_answer = np.array([bool(question.answers) for question in questions], bool)
    return Scores(has_answer, np.array(exact, float), np.array(overlap, float))


def with_threshold(scores: Scores, no_answer: NDArray[np.float64], threshold: float) -> Scores:
    """Return what answers are worth where those above a threshold are taken back.

    Args:
        scores: of the answers.
        no_answer: how probable it is that a question has none.
        threshold: a question with a higher probability gets no answer.
    """
    taken_back, right = no_answer > threshold, (~scores.has_answer).astype(float)
    return Scores(
        scores.has_answer,
        np.where(taken_back, right, scores.exact),
        np.where(taken_back, right, scores.f1),
    )


def best_threshold(
    scores: NDArray[np.float64],
    has_answer: NDArray[np.bool_],
    answers: Sequence[str],
    no_answer: NDArray[np.float64],
) -> tuple[float, float]:
    """Return the best mean that a threshold gives, and the threshold, as SQuAD's script finds it.

    The threshold rises over the questions: at first none is answered, then one more at each step.

    Args:
        scores: exact match or F1 of the answers as they are.
        has_answer: whether a question has an answer.
        answers: those that were given; an empty one is right where there is none.
        no_answer: how probable it is that a question has none.

    Returns:
        The mean, and the first threshold that reaches it; 0 where no answer at all is best.
    """
    empty = np.array([not answer for answer in answers], bool)
    gains = np.where(has_answer, scores, np.where(empty, 0.0, -1.0))
    order = np.argsort(no_answer, kind="stable")
    sums = (~has_answer).sum() + np.concatenate([[0.0], np.cumsum(gains[order])])
    place = int(sums.argmax())
    threshold = float(no_answer[order[place - 1]]) if place else 0.0
    return float(sums[place]) / len(scores), threshold


def figures(scores: Scores) -> dict[str, float]:
    """Return the means of exact match and F1 by type of question, such as `f1_HasAns`.

    A type that no question has is left out.
    """
    has_answer = scores.has_answer
    of_types = (has_answer, ~has_answer, np.ones_like(has_answer))
    chosen = dict(zip(TYPES, of_types, strict=True))
    return {
        f"{name}_{kind}": float(values[which].mean())
        for name, values in (("f1", scores.f1), ("exact", scores.exact))
        for kind, which in chosen.items()
        if which.any()
    }
