import math

import pandas as pd
import pytest

import paraloom
from paraloom import ArgumentError, InputError
from tests.packages import ENCODER, require_packages
from workflow_scripts.plan.catalogues.judges import SHIPPED

REFERENCES = ["The cat sleeps on the sofa.", "What time is it?"]


def test_a_translation_is_more_probable_than_another_text(small_model):
    sources = ["Muž opravuje kolo."] * 2
    targets = ["A man is repairing the bicycle.", "The boy was breaking the cup."]
    right, wrong = paraloom.score(sources, targets, small_model, "fp32")
    assert 0 <= right < 2 < 3 < wrong
    many = paraloom.score(sources * 300, targets * 300, small_model, "fp32", threads=2)
    assert many == pytest.approx([right, wrong] * 300, abs=1e-5)
    with pytest.raises(ArgumentError, match="threads is 0"):
        paraloom.score(sources, targets, small_model, "fp32", threads=0)


def test_an_empty_side_has_no_score(small_model):
    assert paraloom.score(["", "Muž opravuje kolo."], ["A man.", ""], small_model, "fp32") == [
        math.inf,
        math.inf,
    ]


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(ArgumentError, match="sources has 2 texts, targets has 1"):
        paraloom.score(["a", "b"], ["c"], "student_en_pt")
    with pytest.raises(ArgumentError, match="references must be a list of texts"):
        paraloom.judge("a", ["b"])
    with pytest.raises(ArgumentError, match="forward_nll has 1 numbers for 2 references"):
        paraloom.judge(REFERENCES, REFERENCES, forward_nll=[1.0])
    for numbers in (["c"], 3):
        with pytest.raises(ArgumentError, match="forward_nll must be a list of numbers"):
            paraloom.judge(["a"], ["b"], forward_nll=numbers)


@pytest.mark.parametrize("texts", [iter(["a"]), {"a"}, 3])
def test_what_is_no_list_is_refused(texts):
    with pytest.raises(ArgumentError, match="sources must be a list of texts"):
        paraloom.score(texts, ["b"], "student_en_pt")


def test_a_table_is_refused():
    table = pd.DataFrame({"text": ["a"]})
    with pytest.raises(ArgumentError, match="sources is a table"):
        paraloom.score(table, table, "student_en_pt")


@pytest.mark.slow
def test_the_judge_tells_good_from_bad():
    require_packages(ENCODER)
    good = paraloom.judge(REFERENCES, ["The cat is sleeping on the couch.", "What's the time?"])
    bad = paraloom.judge(REFERENCES, ["The dog buys an car.", "Banana of the of."])
    assert min(good) > 2 * max(bad) and all(0 < each < 1 for each in good + bad)
    texts, both = REFERENCES * 70, ["The cat is sleeping on the couch.", "What's the time?"] * 70
    assert paraloom.judge(texts, both, threads=2) == pytest.approx(good * 70, abs=1e-4)
    more = paraloom.judge(REFERENCES, ["A cat sleeps.", "What?"], [0.1, math.nan], [0.2, math.inf])
    assert len(more) == 2 and all(0 < each < 1 for each in more)


@pytest.mark.parametrize(("language", "name"), [("pt", "portuguese"), ("cs", "other")])
def test_the_judge_is_that_of_the_language_which_says_where_it_has_no_labels(
    language, name, capsys
):
    pairs = ["O gato dorme.", "Dorme."], ["O gato está dormindo.", "O o gato 3."], [0.3, math.nan]
    by_name = paraloom.judge(*pairs, judge=SHIPPED[name], language=language)
    assert paraloom.judge(*pairs, language=language) == by_name
    assert ("no label is in 'cs'" in capsys.readouterr().err) is (name == "other")


def test_a_judge_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        paraloom.judge(REFERENCES, REFERENCES, judge=tmp_path / "nothing")
    for empty in (" ", "\0", "\u200b"):
        with pytest.raises(ArgumentError, match=r"paraphrases\[1\] is empty"):
            paraloom.judge(REFERENCES, ["a", empty])
