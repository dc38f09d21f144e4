"""Spans of a passage that answer a question, as Devlin et al. (2018, 4.2 and 4.3) find them.

A passage is read in windows that begin `stride` tokens after each other. The model gives each token
a score as the beginning of the answer and one as its end; those of the first token, [CLS], stand
for "no answer".
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.encoder.tasks.examples import Question

# Tokens of a question (Devlin et al.'s code); the rest is cut off.
MOST_OF_QUESTION = 64
# Tokens of an answer.
_LONGEST_ANSWER = 30
# What the length of a window adds to the context of its tokens (Devlin et al.'s code).
_OF_LENGTH = 0.01

Floats = NDArray[np.float64]
# Small ones: SQuAD has more than 130,000 windows.
Numbers = NDArray[np.int32]


class Window(NamedTuple):
    """A question with a part of its passage.

    Attributes:
        question: its place in the list.
        columns: what the model is called with, each of shape (tokens of the window,).
        begin: the place of the passage's first token in the window.
        offsets: first character and the one behind the last, in the passage, of each token of it,
            shape (tokens, 2).
        best: whether a token has no better context in another window of the question.
    """

    question: int
    columns: dict[str, Numbers]
    begin: int
    offsets: Numbers
    best: NDArray[np.bool_]


def windows(tokenizer: Any, questions: Sequence[Question], most: int, stride: int) -> list[Window]:
    """Return the windows of questions, in order.

    Args:
        tokenizer: of transformers, one that tells where in a text a token stands.
        questions: the questions with their passages.
        most: tokens of a window.
        stride: tokens between the beginnings of two windows.

    Raises:
        InputError: a window has no room for a passage, or the tokenizer tells no places.
    """
    if not tokenizer.is_fast:
        raise InputError(
            f"{tokenizer.name_or_path}: its tokenizer does not tell where tokens stand; SQuAD "
            "needs one with tokenizer.json"
        )
    return [
        window
        for number, question in enumerate(questions)
        for window in _windows_of(tokenizer, number, question, most, stride)
    ]


def _windows_of(
    tokenizer: Any, number: int, question: Question, most: int, stride: int
) -> list[Window]:
    asked = _shortened(tokenizer, question.question)
    own = len(tokenizer(asked, add_special_tokens=False)["input_ids"])
    room = most - own - tokenizer.num_special_tokens_to_add(pair=True)
    if room < 1:
        raise InputError(
            f"SQuAD: {most} tokens are too few for a question of {own} with a passage; raise "
            "encoder_tasks.span_length, or take an encoder with more positions"
        )
    tokens = tokenizer(
        asked,
        question.context,
        truncation="only_second",
        max_length=most,
        stride=max(room - stride, 0),
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    names = [name for name in ("input_ids", "token_type_ids") if name in tokens]
    passages = []
    for part in range(len(tokens["input_ids"])):
        inside = [place for place, of in enumerate(tokens.sequence_ids(part)) if of == 1]
        begin = inside[0] if inside else 0
        places = [tokens["offset_mapping"][part][place] for place in inside]
        offsets = np.array(places, np.int32).reshape(-1, 2)
        columns = {name: np.array(tokens[name][part], np.int32) for name in names}
        passages.append((begin, offsets, columns))
    best = _best_context([offsets for _, offsets, _ in passages])
    return [
        Window(number, columns, begin, offsets, chosen)
        for (begin, offsets, columns), chosen in zip(passages, best, strict=True)
    ]


def _shortened(tokenizer: Any, text: str) -> str:
    """Return a question without what follows its first `MOST_OF_QUESTION` tokens."""
    tokens = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    offsets = tokens["offset_mapping"]
    if len(offsets) <= MOST_OF_QUESTION:
        return text
    return text[: offsets[MOST_OF_QUESTION - 1][1]]


def _best_context(parts: list[Numbers]) -> list[NDArray[np.bool_]]:
    """Tell, for each token of each window, whether no other window gives it more context.

    The context of a token is the smaller number of tokens before or behind it, and a little for
    the length of the window. Of equal windows the first is taken.
    """
    chosen: dict[tuple[int, ...], tuple[float, int]] = {}
    tokens = [[tuple(offset) for offset in offsets.tolist()] for offsets in parts]
    for number, offsets in enumerate(tokens):
        for place, offset in enumerate(offsets):
            context = min(place, len(offsets) - 1 - place) + _OF_LENGTH * len(offsets)
            if offset not in chosen or context > chosen[offset][0]:
                chosen[offset] = (context, number)
    return [
        np.array([chosen[offset][1] == number for offset in offsets], bool)
        for number, offsets in enumerate(tokens)
    ]


def labels(window: Window, question: Question) -> tuple[int, int]:
    """Return the places of the first gold answer's first and last token; (0, 0) without one.

    A window that does not hold the whole answer has none.
    """
    if not question.answers:
        return 0, 0
    text, start = question.answers[0]
    end = start + len(text)
    places = [
        place
        for place, (first, last) in enumerate(window.offsets.tolist())
        if first < end and last > start
    ]
    held = places and window.offsets[places[0], 0] <= start and window.offsets[places[-1], 1] >= end
    return (window.begin + places[0], window.begin + places[-1]) if held else (0, 0)


class Span(NamedTuple):
    """The best answer in a window: its score, that of no answer, and its characters."""

    score: float
    null: float
    start: int
    end: int


def best_span(window: Window, starts: Floats, ends: Floats) -> Span | None:
    """Return the best span of a window; None if the window has no token of the passage.

    Args:
        window: of a question.
        starts: scores of its tokens as the beginning of an answer, shape (tokens,).
        ends: as its end.
    """
    count = len(window.offsets)
    if not count:
        return None
    own = slice(window.begin, window.begin + count)
    first = np.where(window.best, starts[own], -np.inf)
    sums = first[:, None] + ends[own][None, :]
    length = np.arange(count)[None, :] - np.arange(count)[:, None]
    sums[(length < 0) | (length >= _LONGEST_ANSWER)] = -np.inf
    one, other = divmod(int(sums.argmax()), count)
    null = float(starts[0] + ends[0])
    start, end = int(window.offsets[one, 0]), int(window.offsets[other, 1])
    return Span(float(sums[one, other]), null, start, end)


def answers(
    questions: Sequence[Question], best: Sequence[tuple[Window, Span | None]]
) -> tuple[list[str], Floats]:
    """Return the best non-empty answer to each question, and the probability that it has none.

    The probability is the logistic function of the null score difference: the least score of no
    answer in a window minus the score of the best span of all windows.
    """
    spans: list[list[Span]] = [[] for _ in questions]
    for window, span in best:
        if span is not None:
            spans[window.question].append(span)
    texts, differences = [], []
    for question, own in zip(questions, spans, strict=True):
        highest = max(own, key=lambda span: span.score, default=None)
        texts.append("" if highest is None else question.context[highest.start : highest.end])
        null = min((span.null for span in own), default=np.inf)
        differences.append(np.inf if highest is None else null - highest.score)
    with np.errstate(over="ignore"):
        return texts, 1.0 / (1.0 + np.exp(-np.array(differences, np.float64)))


def padded(chosen: Sequence[Window], padding: dict[str, int]) -> dict[str, Tensor]:
    """Return what a model is called with, each of shape (windows, longest), filled up behind."""
    lengths = [len(window.columns["input_ids"]) for window in chosen]
    longest = max(lengths)
    inputs = {}
    for name in chosen[0].columns:
        filled = np.full((len(chosen), longest), padding[name], np.int64)
        for row, window in zip(filled, chosen, strict=True):
            row[: len(window.columns[name])] = window.columns[name]
        inputs[name] = torch.from_numpy(filled)
    mask = torch.arange(longest)[None, :] < torch.tensor(lengths)[:, None]
    return {**inputs, "attention_mask": mask.long()}
