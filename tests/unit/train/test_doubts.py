import pytest

from workflow_scripts.stages.train.doubts import doubts


def found(bleu=30.0, perplexity=8.0, role="forward"):
    measured = None if bleu is None else {"score": bleu}
    return doubts(role, {"bleu": measured, "validation_perplexity": perplexity})


def test_usable_models_are_not_doubted():
    assert found() == []
    assert found(bleu=10.0, perplexity=40.0) == []
    assert found(bleu=None, perplexity=None) == []


def test_models_that_only_filter_are_not_doubted():
    assert found(0.0, 900.0, "filter_backward") == []


def test_each_poor_figure_is_told():
    bleu, perplexity = found(0.0, 900.0, "backward")
    assert bleu == "the backward model has BLEU 0.00 on the test set (poor: under 10)"
    assert perplexity == "the backward model has a perplexity of 900.0 per piece (poor: over 40)"
    assert len(found(perplexity=41.0)) == 1
    assert found(9.9, None) == ["the forward model has BLEU 9.90 on the test set (poor: under 10)"]


def test_a_finished_model_is_judged_by_the_test_set():
    measured = {"bleu": None, "validation_perplexity": None, "test_perplexity": 50.0}
    assert len(doubts("forward", measured)) == 1


@pytest.mark.parametrize("perplexity", [3.0, 9.9])
def test_a_low_bleu_with_a_good_perplexity_points_to_the_test_set(perplexity):
    (text,) = found(0.4, perplexity)
    assert "is the test set of the same text?" in text
    assert "languages without blanks" in text
