import pytest
import sacrebleu

from workflow_scripts.stages.embed.baselines import baselines, bleu, meteor
from workflow_scripts.stages.embed.evaluation import data_set


def test_bleu_is_that_of_sacrebleu_on_words():
    reference = ["the", "old", "dog", "sees", "a", "cat"]
    hypothesis = ["an", "old", "dog", "sees", "the", "cat"]
    expected = sacrebleu.sentence_bleu(" ".join(hypothesis), [" ".join(reference)])
    assert bleu(reference, hypothesis) == pytest.approx(expected.score)
    assert bleu(reference, reference) == pytest.approx(100)
    assert bleu(reference, []) == bleu([], hypothesis) == 0


def test_meteor_by_hand():
    """Lavie and Agarwal (2007): F of precision and recall, less a penalty for broken order."""
    # All six words match, in two chunks: the mat / is under the cat.
    reference = ["the", "cat", "is", "on", "my", "mat"]
    hypothesis = ["on", "my", "mat", "is", "the", "cat"]
    assert meteor("en")(reference, hypothesis) == pytest.approx(1 - 0.5 * (3 / 6) ** 3)
    # Four of five and of four words match: precision 1, recall 0.8, one chunk.
    harmonic = 1 * 0.8 / (0.9 * 1 + 0.1 * 0.8)
    found = meteor("en")(["a", "b", "c", "d", "e"], ["a", "b", "c", "d"])
    assert found == pytest.approx(harmonic * (1 - 0.5 * (1 / 4) ** 3))


def test_stems_match_in_english_alone():
    one, other = ["dogs"], ["dog"]
    assert meteor("en")(one, other) > 0
    assert meteor("pt")(one, other) == 0


def test_they_are_of_words_in_lower_case_without_punctuation():
    data = data_set("g", "g.a", [(5.0, "The Dog sleeps here.", "the dog sleeps here!")])
    found = baselines([data], "en")
    assert found["bleu"][0].tolist() == [pytest.approx(100)]
    assert found["meteor"][0].tolist() == [pytest.approx(1 - 0.5 * (1 / 4) ** 3)]
