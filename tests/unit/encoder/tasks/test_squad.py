"""SQuAD 2.0: its reader, and measures against cases that were computed by hand."""

import numpy as np
import pytest

from tests.unit.encoder.tasks.samples import PASSAGE, question, squad
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.encoder.tasks import squad as measures
from workflow_scripts.stages.encoder.tasks.examples import Question


def asked(*answers, number="q"):
    return Question(number, "who ?", PASSAGE, tuple((answer, 0) for answer in answers))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("The  Cat", "cat"),
        ("the-cat!", "thecat"),  # punctuation goes before articles, so that `the` is none here
        ("a.n. apple", "apple"),  # and makes one here
        ("theatre", "theatre"),
        ("Ämter\tund ", "ämter und"),
        ("«cat»", "«cat»"),  # ASCII's punctuation only
        ("the", ""),
    ],
)
def test_answers_are_normalised_as_squads_script_does(text, same):
    assert measures.normalised(text) == same


@pytest.mark.parametrize(
    ("gold", "answer", "exact", "f1"),
    [
        ("a small dog", "Small dog.", 1.0, 1.0),
        ("small dog", "small old dog", 0.0, 0.8),  # precision 2/3, recall 1
        ("dog dog", "dog", 0.0, 2 / 3),  # a word counts as often as it is there
        ("dog", "cat", 0.0, 0.0),
        ("dog", "", 0.0, 0.0),
        ("", "", 1.0, 1.0),
        ("", "dog", 0.0, 0.0),
        ("the", "", 1.0, 1.0),
    ],
)
def test_measures_by_hand(gold, answer, exact, f1):
    assert measures.exact_match(gold, answer) == exact
    assert measures.f1(gold, answer) == pytest.approx(f1)


def test_the_best_gold_answer_counts_and_empty_ones_are_none():
    scores = measures.raw_scores(
        [asked("small dog", "dog"), asked(), asked("the"), asked()], ["dog", "dog", "", ""]
    )
    assert scores.exact.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert scores.f1.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert scores.has_answer.tolist() == [True, False, True, False]


def test_figures_by_type_but_for_one_that_no_question_has():
    scores = measures.Scores(
        np.array([True, True, False]), np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.5, 0.0])
    )
    expected = {
        **{"exact_HasAns": 0.5, "exact_NoAns": 0.0, "exact_Total": 1 / 3},
        **{"f1_HasAns": 0.75, "f1_NoAns": 0.0, "f1_Total": 0.5},
    }
    assert measures.figures(scores) == pytest.approx(expected)
    alone = measures.Scores(np.array([True]), np.array([1.0]), np.array([1.0]))
    assert measures.figures(alone).keys() == {name for name in expected if "NoAns" not in name}


def test_a_threshold_takes_answers_back():
    """Strictly above it, as the script has it."""
    raw = measures.Scores(np.array([True, False, True]), np.ones(3) * 0.5, np.ones(3) * 0.4)
    found = measures.with_threshold(raw, np.array([0.2, 0.9, 0.8]), 0.8)
    assert found.exact.tolist() == [0.5, 1.0, 0.5]
    assert found.f1.tolist() == [0.4, 1.0, 0.4]
    everything = measures.with_threshold(raw, np.array([0.2, 0.9, 0.8]), 0.1)
    assert everything.exact.tolist() == [0.0, 1.0, 0.0]


def test_the_best_threshold_by_hand():
    """Answered in the order of their probabilities: 1 right, 1 of no answer, 2 right, 1 wrong.

    Of 6 questions two have no answer, so that the sum begins with 2 and goes 3, 2, 3, 4, 4, 3.
    """
    has_answer = np.array([True, False, True, True, True, False])
    scores = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    no_answer = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    answers = ["x"] * 6
    best, threshold = measures.best_threshold(scores, has_answer, answers, no_answer)
    assert (best, threshold) == (pytest.approx(4 / 6), 0.4)
    found = measures.with_threshold(
        measures.Scores(has_answer, scores, scores), no_answer, threshold
    )
    assert found.exact.mean() == pytest.approx(best)


@pytest.mark.parametrize(
    ("scores", "has_answer", "answers", "no_answer", "expected"),
    [
        # No answer at all is best.
        ([0, 0], [True, False], ["x", "x"], [0.5, 0.4], (0.5, 0.0)),
        # An empty answer to a question without one loses nothing.
        ([1, 1], [False, True], ["", "x"], [0.1, 0.2], (1.0, 0.2)),
    ],
)
def test_the_best_threshold_of_two(scores, has_answer, answers, no_answer, expected):
    arrays = (np.array(scores, float), np.array(has_answer), answers, np.array(no_answer))
    assert measures.best_threshold(*arrays) == expected


def test_questions_are_read(tmp_path):
    squad(tmp_path)
    data = measures.read_squad(tmp_path)
    assert [each.number for each in data.tested["dev"]] == ["dev-1", "dev-2"]
    assert data.train[0] == Question(
        "train-1", "the cat sees ?", PASSAGE, (("a small dog", PASSAGE.index("a small")),)
    )
    assert data.train[1].answers == ()


def test_an_answer_that_stands_elsewhere_is_not_learnt_but_tested(tmp_path):
    shifted = [question("1", "who ?", ("a small dog", 3)), question("2", "who ?")]
    squad(tmp_path, shifted, shifted)
    data = measures.read_squad(tmp_path)
    assert [each.number for each in data.train] == ["2"]
    assert data.counts["train"]["misplaced"] == 1
    assert data.tested["dev"][0].answers == (("a small dog", 3),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"is_impossible": True}, "is_impossible of 1"),
        ({"is_impossible": ...}, "is_impossible"),  # absent, as in SQuAD 1.1
        ({"answers": [{"text": "x", "answer_start": -1}]}, "answer_start of 1"),
        ({"answers": [{"text": 5, "answer_start": 1}]}, "no string"),
        ({"answers": [{"text": "x"}]}, "answer_start"),
        ({"id": "2"}, "the question 2 is there twice"),
    ],
)
def test_what_is_not_as_squad_has_it_is_refused(tmp_path, change, message):
    given = question("1", "who ?", ("old", 4)) | change
    broken = {key: value for key, value in given.items() if value is not ...}
    squad(tmp_path, [broken, question("2", "who ?")])
    with pytest.raises(InputError, match=message):
        measures.read_squad(tmp_path)


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"data": [{}]}', b'{"data": []}', b"\xff"])
def test_another_file_is_refused(tmp_path, content):
    squad(tmp_path)
    (tmp_path / "dev-v2.0.json").write_bytes(content)
    with pytest.raises(InputError, match=r"dev-v2.0.json"):
        measures.read_squad(tmp_path)
