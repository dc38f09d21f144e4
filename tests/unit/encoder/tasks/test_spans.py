"""Windows of a passage, and the spans that are found in them."""

import numpy as np
import pytest

from tests.unit.encoder.conftest import tiny_tokenizer
from tests.unit.encoder.tasks.samples import PASSAGE
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.encoder.tasks import spans
from workflow_scripts.stages.encoder.tasks.examples import Question

ANSWER = "the big bird"
START = PASSAGE.index(ANSWER)


def question(*answers, context=PASSAGE):
    return Question("q", "the cat sees", context, answers)


def found(each, most=14, stride=5):
    return spans.windows(tiny_tokenizer(), [each], most, stride)


def words(window):
    return [PASSAGE[first:last] for first, last in window.offsets]


def test_windows_begin_a_stride_after_each_other_and_hold_all():
    """3 words of the question and 3 symbols leave 8 of 14; the passage has 18."""
    windows = found(question())
    tokens = PASSAGE.split()
    assert [words(each) for each in windows] == [tokens[0:8], tokens[5:13], tokens[10:18]]
    assert all(each.begin == 5 for each in windows)
    for each in windows:
        types = each.columns["token_type_ids"]
        assert types.tolist() == [0] * 5 + [1] * (len(each.offsets) + 1)


def test_a_short_passage_is_one_window():
    assert len(found(question(), most=40)) == 1


def test_a_stride_beyond_the_window_leaves_no_gap():
    windows = found(question(), stride=100)
    assert [word for each in windows for word in words(each)] == PASSAGE.split()


def test_a_token_counts_where_it_has_most_context():
    """Token 6 is the last but one of the first window, and the second of the other."""
    first, second, third = found(question())
    assert first.best.tolist() == [True] * 7 + [False]
    assert second.best.tolist() == [False] * 2 + [True] * 5 + [False]
    assert third.best.tolist() == [False] * 2 + [True] * 6


def test_the_places_of_an_answer_are_learnt_where_it_is_whole():
    windows = found(question((ANSWER, START)))
    of = PASSAGE.split().index("and") + 1
    assert [spans.labels(each, question((ANSWER, START))) for each in windows] == [
        (0, 0),
        (5 + of - 5, 5 + of - 5 + 2),
        (0, 0),
    ]


def test_no_answer_is_learnt_as_the_first_token():
    assert {spans.labels(each, question()) for each in found(question())} == {(0, 0)}


def test_an_answer_within_a_token_takes_the_whole_token():
    inside = ("og", PASSAGE.index("og"))
    (window,) = found(question(inside), most=40)
    place = 5 + PASSAGE.split().index("dog")
    assert spans.labels(window, question(inside)) == (place, place)


def scores(window, start, end, high=5.0):
    starts, ends = np.zeros((2, len(window.columns["input_ids"])))
    starts[window.begin + start], ends[window.begin + end] = high, high
    return starts, ends


def test_the_best_span_is_found():
    (window,) = found(question(), most=40)
    starts, ends = scores(window, 2, 4)
    starts[0], ends[0] = 1.0, 2.0
    best = spans.best_span(window, starts, ends)
    assert best == (10.0, 3.0, window.offsets[2][0], window.offsets[4][1])


def test_a_span_does_not_end_before_it_begins_nor_in_the_question():
    (window,) = found(question(), most=40)
    starts, ends = scores(window, 4, 2)
    starts[1] = ends[1] = 100.0
    best = spans.best_span(window, starts, ends)
    assert best.score == 5.0
    assert best.start < best.end


def test_a_span_has_30_tokens_at_most():
    text = " ".join(["cat"] * 40)
    (window,) = found(question(context=text), most=60)
    starts, ends = scores(window, 0, 29)
    assert spans.best_span(window, starts, ends).score == 10.0
    starts, ends = scores(window, 0, 30)
    assert spans.best_span(window, starts, ends).score == 5.0


def test_a_span_begins_where_its_token_has_most_context():
    first, second, _ = found(question())
    starts, ends = scores(second, 0, 1)
    assert spans.best_span(second, starts, ends).start != second.offsets[0][0]
    starts, ends = scores(first, 5, 6)
    assert spans.best_span(first, starts, ends).score == 10.0


def test_answers_are_the_best_of_all_windows_and_the_least_of_no_answer():
    windows = found(question((ANSWER, START)))
    each = [
        spans.Span(4.0, 3.0, 0, 7),
        spans.Span(6.0, 2.0, START, START + len(ANSWER)),
        spans.Span(5.0, 9.0, 0, 3),
    ]
    texts, no_answer = spans.answers(
        [question((ANSWER, START))], list(zip(windows, each, strict=True))
    )
    assert texts == [ANSWER]
    assert no_answer.tolist() == pytest.approx([1 / (1 + np.exp(6.0 - 2.0))])


def test_a_passage_without_a_token_has_no_answer():
    empty = question(context=" ")
    windows = found(empty)
    best = [spans.best_span(each, np.zeros(6), np.zeros(6)) for each in windows]
    texts, no_answer = spans.answers([empty], list(zip(windows, best, strict=True)))
    assert (best, texts, no_answer.tolist()) == ([None], [""], [1.0])


def test_a_long_question_is_cut_after_64_tokens():
    asked = Question("q", "cat " * 70, PASSAGE, ())
    windows = spans.windows(tiny_tokenizer(), [asked], 200, 100)
    assert windows[0].begin == 1 + spans.MOST_OF_QUESTION + 1


def test_a_window_without_room_is_refused():
    with pytest.raises(InputError, match="6 tokens are too few for a question of 3"):
        found(question(), most=6)


def test_batches_are_filled_up_behind():
    windows = [*found(question(), most=14), *found(question(), most=40)]
    inputs = spans.padded(windows[-2:], {"input_ids": 0, "token_type_ids": 0})
    assert inputs["input_ids"].shape == (2, len(windows[-1].columns["input_ids"]))
    short, whole = inputs["input_ids"].tolist()
    assert short == [*windows[-2].columns["input_ids"], *([0] * (len(whole) - 14))]
    assert whole == windows[-1].columns["input_ids"].tolist()
    assert inputs["attention_mask"].sum(1).tolist() == [
        len(each.columns["input_ids"]) for each in windows[-2:]
    ]
