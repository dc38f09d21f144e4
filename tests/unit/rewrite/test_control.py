"""How well a rewriter follows templates: what is asked, what counts as met, what is averaged."""

import math

import pytest

from workflow_scripts.stages.rewrite.control import (
    Answer,
    Output,
    Question,
    Scores,
    answers,
    by_template,
    examples,
    measures,
    questions,
)
from workflow_scripts.stages.rewrite.syntax_templates import Template
from workflow_scripts.stages.rewrite.template_pairs import Parsed

S, SQ, FRAG = "(S (NP) (VP))", "(SQ (VB) (NP))", "(FRAG (NP))"
TREES = {
    "I run": "(ROOT (S (NP (PRP I)) (VP (VB run))))",
    "Run I": "(ROOT (SQ (VB Run) (NP (PRP I))))",
    "Me": "(ROOT (FRAG (NP (PRP Me))))",
}
FREQUENT = [Template(S, 5, "I run"), Template(FRAG, 2, "Me")]


def pair(number, source="You run"):
    row = {"id": f"c:{number}", "source": source, "reference": "Run I", "corpus": "test"}
    return Parsed(row, own=S, wanted=SQ)


def test_each_pair_is_asked_for_its_target_and_each_sentence_for_the_frequent_ones():
    asked = list(questions([pair(1), pair(2), pair(3, "We run")], FREQUENT))
    first = [
        (question.setting, question.asked, question.read)
        for question in asked
        if question.id == "c:1"
    ]
    assert first == [
        ("target", SQ, SQ),
        ("own", SQ, S),
        ("free", SQ, None),
        ("frequent", S, S),
        ("frequent_free", S, None),
        ("frequent", FRAG, FRAG),
        ("frequent_free", FRAG, None),
    ]
    assert [question.setting for question in asked if question.id == "c:2"] == [
        "target",
        "own",
        "free",
    ]
    assert len([question for question in asked if question.sentence == "We run"]) == 7


def search(inputs):
    """Write a question first where one is asked for, fragments second; nothing of `Silent`."""
    for template, sentence in inputs:
        if sentence == "Silent":
            yield []
        elif template == SQ:
            yield [("Run I", 0.1), ("I run", 0.2)]
        else:
            yield [("I run", 0.1), ("Me", 0.3), ("odd", 0.4)]


def parse(texts):
    return [TREES.get(text) for text in texts]


def found(*pairs):
    return answers(list(questions(pairs, FREQUENT)), search, parse)


def test_a_template_is_met_by_the_best_or_by_one_of_the_beam():
    by = {(answer.question.setting, answer.question.asked): answer for answer in found(pair(1))}
    target = by["target", SQ]
    assert target.first == target.best == Output("Run I", 0.1, SQ)
    assert target.met and target.met_best
    assert not by["own", SQ].met_best
    assert by["own", SQ].best == by["own", SQ].first == Output("I run", 0.1, S)
    fragment = by["frequent", FRAG]
    assert not fragment.met
    assert fragment.met_best
    assert fragment.best == Output("Me", 0.3, FRAG)
    assert by["frequent_free", S].met


def test_each_input_is_searched_once_and_each_text_parsed_once():
    searched, parsed = [], []

    def counting_search(inputs):
        searched.extend(inputs)
        return search(inputs)

    def counting_parse(texts):
        parsed.extend(texts)
        return parse(texts)

    asked = list(questions([pair(1), pair(2)], FREQUENT))
    answers(asked, counting_search, counting_parse)
    assert sorted(map(str, searched)) == sorted(
        map(str, [(SQ, "You run"), (S, "You run"), (None, "You run"), (FRAG, "You run")])
    )
    assert sorted(parsed) == ["I run", "Me", "Run I", "odd"]


def number(pairs):
    """Know the meaning of all originals but `We run`; what ends in `I` means the same."""
    return [
        math.nan if first == "We run" else 100.0 * second.endswith("I") for first, second in pairs
    ]


def test_measures_of_the_settings():
    answered = found(pair(1), pair(2, "We run"), pair(3, "Silent"), pair(4, "I run"))
    scores = Scores({"exact": number})
    scores.learn(answered)
    result = measures(answered, scores, samples=100, seed=1)
    assert list(result) == ["target", "own", "free", "frequent", "frequent_free"]
    target = result["target"]
    assert target["answers"] == target["sentences"] == 4
    assert target["without_output"] == 1
    assert target["met"] == target["met_best"] == 75.0
    assert target["met_interval"]["low"] <= 75.0 <= target["met_interval"]["high"]
    # The original without a known meaning and the one without output do not count.
    assert target["exact"] == target["exact_where_met"] == 100.0
    assert result["own"]["met"] == result["free"]["met_best"] == 0.0
    assert result["own"]["exact_where_met"] is None
    assert result["own"]["copies"] == 25.0
    frequent = result["frequent"]
    assert frequent["answers"] == 8
    assert (frequent["met"], frequent["met_best"]) == (37.5, 75.0)
    assert frequent["distinct"] == 0.75
    assert measures(answered, scores, samples=100, seed=1) == result


def test_measures_where_nothing_is_found():
    def never(pairs):
        raise AssertionError("there is nothing to score")

    answered = found(pair(3, "Silent"))
    scores = Scores({"cosine": never})
    scores.learn(answered)
    target = measures(answered, scores, 10, 1)["target"]
    assert target["without_output"] == target["answers"] == 1
    assert target["met"] == 0.0
    assert target["cosine"] is None
    assert by_template(answered, FREQUENT, scores)[0]["cosine"] is None


def test_sentences_without_a_tree_are_counted():
    odd = Output("odd", 0.4, None)
    answered = [Answer(Question("target", "c:1", "You run", S, SQ, SQ), odd, odd)]
    assert measures(answered, Scores({}), 10, 1)["target"]["without_tree"] == 1


def test_by_template():
    answered = found(pair(1), pair(3, "Silent"))
    scores = Scores({"exact": number})
    scores.learn(answered)
    first, second = by_template(answered, FREQUENT, scores)
    assert first == {
        **{"template": S, "count": 5, "answers": 2, "met": 50.0, "met_best": 50.0},
        "exact": 0.0,
    }
    assert (second["met"], second["met_best"]) == (0.0, 50.0)


@pytest.mark.parametrize("sentences", [1, 5])
def test_examples_have_the_form_of_the_papers_table(sentences):
    shown = examples(found(pair(1), pair(2, "We run"), pair(3, "Silent")), sentences)
    assert [example["original"] for example in shown] == ["You run", "We run"][:sentences]
    assert shown[0] == {
        "original": "You run",
        "template": S,
        "paraphrases": [
            {"template": S, "paraphrase": "I run", "met": True},
            {"template": FRAG, "paraphrase": "Me", "met": True},
        ],
    }
