"""Measures of a rewriter on held-out sentences."""

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from workflow_scripts.stages.evaluate.diversity import diversity
from workflow_scripts.stages.rewrite import measure
from workflow_scripts.stages.rewrite.measure import (
    HeldOut,
    columns,
    figures,
    held_out,
    meaning_scores,
)
from workflow_scripts.testbed.checker import Checker

SENTENCES = [
    HeldOut("a", "The doctor bought the car.", ["The car was bought by the doctor.", "No."]),
    HeldOut("b", "The dog did not sleep.", ["The dog didn't sleep."]),
    HeldOut("c", "Yesterday, the boy saw a dog.", ["The boy saw a dog yesterday."]),
]
OUTPUTS = ["The car was bought by the doctor.", "The dog did not sleep!", ""]


def row(identifier, source, reference, corpus="test"):
    return {"id": identifier, "source": source, "reference": reference, "corpus": corpus}


def cosines(pairs):
    return np.array([0.5 + 0.25 * (one[:3] == other[:3]) for one, other in pairs])


def test_one_sentence_of_each_held_out_reference_with_all_that_was_written_for_it():
    rows = [
        row("c:2-aa", "Two.", "Second."),
        row("c:1-aa", "One.", "First."),
        row("c:1-bb", "One.", "The first."),
        row("c:9-aa", "One.", "The same again."),
        row("c:3-aa", "Three.", "Third.", "dev"),
        row("c:4-aa", "Four.", "Fourth.", "train"),
    ]
    assert held_out(rows, 1) == [
        HeldOut("c:1", "One.", ["First.", "The first."]),
        HeldOut("c:2", "Two.", ["Second."]),
    ]


@pytest.mark.parametrize("read", ["source", "reference"])
def test_a_reference_under_two_ids_is_judged_once_whichever_side_is_read(read):
    texts = [("c:1-aa", "One.", "First."), ("c:9-aa", "one", "The first."), ("c:2-a", "Two.", "2.")]
    rows = [
        row(identifier, *(pair if read == "source" else pair[::-1])) for identifier, *pair in texts
    ]
    assert [sentence.id for sentence in held_out(rows, 1)] == ["c:1", "c:2"]


def test_a_reference_that_is_written_gives_one_of_its_paraphrases_by_the_seed():
    rows = [row(f"c:1-{way}", f"Way {way}.", "One.") for way in range(8)]
    drawn = {held_out(rows, seed)[0].text for seed in range(20)}
    assert all(len(held_out(rows, seed)) == 1 for seed in range(20))
    assert len(drawn) > 1
    assert held_out(rows, 3) == held_out(rows[::-1], 3)


def test_figures_are_those_of_the_whole_and_lie_in_their_intervals():
    values = figures(columns(SENTENCES, OUTPUTS, cosines, Checker()), 200, 1)
    pairs = [(sentence.text, output) for sentence, output in zip(SENTENCES, OUTPUTS, strict=True)]
    assert values["sentences"] == 3
    assert values["empty"] == 1
    assert values["copies"]["value"] == pytest.approx(100 / 3)  # but for its mark
    assert values["one_minus_bleu"]["value"] == diversity(pairs)["one_minus_bleu"]
    references = [[sentence.written[0] for sentence in SENTENCES], ["No.", None, None]]
    assert values["bleu"]["value"] == pytest.approx(
        BLEU().corpus_score(OUTPUTS, references).score, abs=1e-5
    )
    assert values["length_ratio"]["value"] == pytest.approx((7 + 5) / (5 + 5 + 6))
    assert values["cosine"]["value"] == pytest.approx(0.75)  # an empty output has none
    assert values["known"] == 3
    assert values["exact_meaning"]["value"] == pytest.approx(100 / 3)  # no exclamations in it
    for name in ("bleu", "one_minus_bleu", "copies", "length_ratio", "exact_meaning"):
        assert values[name]["low"] <= values[name]["value"] <= values[name]["high"], name


def test_what_a_run_cannot_know_is_none():
    values = figures(columns(SENTENCES, OUTPUTS, None, None), 20, 1)
    assert values["cosine"] is None
    assert values["exact_meaning"] is None
    assert values["known"] == 0
    real = [HeldOut("r", "Nothing of the kind is simulated.", ["Really."])]
    values = figures(columns(real, ["Indeed."], None, Checker()), 20, 1)
    assert values["known"] == 0
    assert values["exact_meaning"] is None


def test_a_rewriter_that_writes_nothing_has_figures():
    values = figures(columns(SENTENCES, ["", "", ""], cosines, None), 20, 1)
    assert values["empty"] == 3
    assert values["bleu"]["value"] == 0.0
    assert values["one_minus_bleu"]["value"] == 100.0
    assert values["cosine"] is None


def test_the_encoder_scores_english_whatever_it_is_called(monkeypatch):
    class Encoder:
        def encode(self, texts):
            return np.array([[1.0, float(len(text))] for text in texts])

    monkeypatch.setattr(measure, "load_encoder", lambda *_: Encoder())
    assert meaning_scores("sv", "cpu") is None
    for language in ("en", "eng"):
        scores = meaning_scores(language, "cpu")
        assert scores([("same", "size")]) == pytest.approx([1.0])
