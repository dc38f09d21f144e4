"""A rewriter of a folder: the small trained model stands for one, Czech in and English out."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import paraloom
from paraloom import ArgumentError, InputError

pytestmark = pytest.mark.slow
TEXT, FOUND = "Muž opravuje kolo.", "The guy is fixing the bike."


@pytest.fixture(scope="module")
def rewriter(small_model):
    return paraloom.Rewriter(small_model, judge=None, precision="fp32")


def test_the_best_comes_first_and_all_differ(rewriter):
    found = rewriter(TEXT, n=3)
    assert (found[0].text, len(found), found.why) == (FOUND, 3, None)
    assert len({each.text for each in found}) == 3
    assert all(each.probability is None and each.source is None for each in found)


def test_words_and_streams(rewriter):
    first, second = rewriter([TEXT, ""], n=2, avoid=["bicycle"])
    assert first and not any("bicycle" in each.text for each in first)
    assert second == [] and second.why.startswith("empty")
    kept = rewriter(TEXT, keep=["man"])
    assert kept and all("man" in each.text.lower().strip(".").split() for each in kept)


def test_a_reason_does_not_repeat_long_words(rewriter):
    found = rewriter(TEXT, keep=[letter * 60 for letter in "abcd"])
    assert found == [] and found.why.startswith("unmet: no sentence with aaa")
    assert len(found.why) < 300


def test_of_a_short_text_what_shares_no_word_is_given_where_it_is_mended(rewriter, monkeypatch):
    assert rewriter("Muž.").why.startswith("unlike")
    mends = replace(rewriter._engine.settings, copies=True)
    monkeypatch.setattr(rewriter._engine, "settings", mends)
    assert rewriter("Muž.") and rewriter([paraloom.Request("Muž.")], n=1)
    assert rewriter("Muž.", at_least=0.5).why.startswith("refused: at_least")


def test_the_judge_reads_the_text_that_the_model_reads(rewriter, monkeypatch):
    read = []

    def probabilities(pairs):
        read.extend(pairs.references)
        return [0.5] * len(pairs)

    monkeypatch.setattr(rewriter, "_judge", SimpleNamespace(probabilities=probabilities))
    monkeypatch.setattr(rewriter, "at_least", 0.4)
    assert rewriter("Muz\u030c  opravuje\tkolo.\n", n=1)[0].text == FOUND
    assert set(read) == {TEXT}
    assert rewriter(TEXT, n=1, at_least=0.6) == []
    monkeypatch.setattr(rewriter, "at_least", 0.6)
    assert rewriter(TEXT, n=1).why.startswith("improbable")


def test_samples_are_drawn_by_the_seed(rewriter):
    drawn = rewriter(TEXT, n=4, samples=4)
    assert drawn and drawn == rewriter(TEXT, n=4, samples=4)
    with pytest.raises(ArgumentError, match="samples can't have words to keep"):
        rewriter(TEXT, samples=2, keep=["two"])
    with pytest.raises(ArgumentError, match="n is None"):
        rewriter(TEXT, n=None)


def test_what_the_model_does_not_know_is_told(rewriter):
    assert rewriter(f"{TEXT} 王").unknown == ["王"]
    assert rewriter(TEXT).unknown == []


def test_more_than_the_beam_holds_says_why(rewriter):
    found = rewriter(TEXT, n=500)
    assert (
        found.why == f"fewer: {len(found)} of 500 different ones were found; search wider for more"
    )


def test_a_run_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="no run there"):
        paraloom.Rewriter(tmp_path / "nothing")


def test_a_folder_of_a_model_has_no_names(small_model):
    with pytest.raises(InputError, match=r"name \(--rewriter, name=\) goes with a run"):
        paraloom.Rewriter(small_model, name="foo")
