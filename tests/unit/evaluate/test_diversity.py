import json
from collections import Counter

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.evaluate.diversity import (
    Comparison,
    bleu_counts,
    diversity,
    main,
    one_minus_bleu,
    sentence,
)

# Few words, so that n-grams meet; punctuation, case and empty lines among them.
LINE = st.lists(
    st.sampled_from(["a", "b", "B", "c,", "d", "(e)", "...", "ž"]), min_size=0, max_size=9
).map(" ".join)
PAIRS = st.lists(st.tuples(LINE, LINE), min_size=1, max_size=8)


def test_by_hand():
    # Words: the cat sat on the mat / a cat sat on the mat today.
    # Matches 5, 4, 3, 2 of 7, 6, 5, 4 n-grams.
    result = diversity([("The cat sat on the mat.", "A cat sat on the mat today!")])
    bleu = (5 / 7 * 4 / 6 * 3 / 5 * 2 / 4) ** 0.25
    assert result == {
        "pairs": 1,
        "one_minus_bleu": pytest.approx(100 * (1 - bleu), abs=1e-6),
        "intersection_over_union": pytest.approx(100 * 5 / 7, abs=1e-6),  # "the" counts once
        "intersection_over_union_bags": 62.5,  # 5 of 6 + 7 - 5
        "length_ratio": pytest.approx(7 / 6, abs=1e-6),
    }


def test_counts_are_clipped_by_line_before_they_are_summed():
    # Over the whole corpus "a" would match twice; by line only the first line has one, once.
    first, second = sentence("a b"), sentence("a a")
    counts = bleu_counts(first, second) + bleu_counts(sentence("c a"), sentence("d d"))
    assert counts.tolist() == [[1, 0, 0, 0], [4, 2, 0, 0]]


def test_bags_are_multisets():
    result = diversity([("a a b", "a b b b")])
    assert result["intersection_over_union_bags"] == 40.0  # min counts 1 + 1, max counts 2 + 3
    assert result["intersection_over_union"] == 100.0  # the sets are the same
    assert result["length_ratio"] == pytest.approx(4 / 3, abs=1e-6)


def test_the_paraphrase_is_the_hypothesis():
    long, short = "a b c d e f", "a b c d"
    assert diversity([(long, short)])["one_minus_bleu"] == 0.0  # no brevity penalty
    assert diversity([(short, long)])["one_minus_bleu"] > 0.0


@pytest.mark.parametrize("line", ["", "a", "a b c", "!!!"])
def test_an_order_without_ngrams_makes_bleu_zero(line):
    assert diversity([(line, line)])["one_minus_bleu"] == 100.0


def test_empty_lines():
    result = diversity([("", ""), ("?", "a"), ("a b", ""), ("a b c d", "a b c d")])
    assert result["pairs"] == 4
    assert result["intersection_over_union"] == 50.0  # 1, 0, 0, 1
    assert result["length_ratio"] == 0.5  # 0 and 1; not defined for the first two lines
    assert diversity([("", "")])["length_ratio"] is None


def test_means_are_over_lines_and_bleu_over_the_corpus():
    pairs = [("a b c d e", "a b c d e"), ("a b c d", "w x y z")]
    result = diversity(pairs)
    assert result["intersection_over_union"] == 50.0
    bleu = (5 / 9 * 4 / 7 * 3 / 5 * 2 / 3) ** 0.25
    assert result["one_minus_bleu"] == pytest.approx(100 * (1 - bleu), abs=1e-6)


def sacrebleu_without_penalty(pairs):
    normalised = [[" ".join(words(text)) for text in pair] for pair in pairs]
    bleu = sacrebleu.corpus_bleu(
        [paraphrase for _, paraphrase in normalised],
        [[reference for reference, _ in normalised]],
        tokenize="none",
        smooth_method="none",
        force=True,
    )
    return bleu.score / bleu.bp if bleu.bp else 0.0


@pytest.mark.slow
@given(PAIRS)
def test_bleu_agrees_with_sacrebleu(pairs):
    expected = 100 - sacrebleu_without_penalty(pairs)
    if any(words(paraphrase) for _, paraphrase in pairs):
        assert diversity(pairs)["one_minus_bleu"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
@given(PAIRS)
def test_copies(pairs):
    copies = [(reference, reference.upper() + "!?") for reference, _ in pairs]
    result = diversity(copies)
    assert result["intersection_over_union"] == 100.0
    assert result["length_ratio"] in (1.0, None)
    longest = max(len(words(reference)) for reference, _ in pairs)
    assert result["one_minus_bleu"] == (0.0 if longest >= 4 else 100.0)


@pytest.mark.slow
@given(PAIRS, PAIRS)
def test_sums_of_parts_are_those_of_the_whole(some, others):
    def summed(pairs):
        comparison = Comparison()
        for pair in pairs:
            comparison.add(*map(sentence, pair))
        return comparison

    merged = summed(some)
    merged.merge(summed(others))
    whole = summed(some + others)
    assert merged.bleu.tolist() == whole.bleu.tolist()
    assert (merged.pairs, merged.result()["one_minus_bleu"]) == (
        whole.pairs,
        whole.result()["one_minus_bleu"],
    )
    assert merged.result()["words"] == pytest.approx(whole.result()["words"])


def test_many_corpora_at_once():
    counts = np.array([[[2, 1, 1, 1], [4, 3, 2, 1]], [[1, 0, 0, 0], [4, 3, 2, 1]]])
    expected = [100 * (1 - (2 / 4 * 1 / 3 * 1 / 2) ** 0.25), 100.0]
    assert one_minus_bleu(counts) == pytest.approx(expected)


def test_pieces_replace_words_but_not_in_bleu(segmenter):
    pair = ("The old dogs.", "An old dog, small")
    on_words, on_pieces = diversity([pair]), diversity([pair], segmenter)
    first, second = (
        Counter(word for piece in segmenter.pieces(text) for word in words(piece.lstrip("▁")))
        for text in pair
    )
    assert on_pieces["one_minus_bleu"] == on_words["one_minus_bleu"]
    bags = 100 * (first & second).total() / (first | second).total()
    assert on_pieces["intersection_over_union_bags"] == pytest.approx(bags, abs=1e-5)
    sets = 100 * len(first.keys() & second.keys()) / len(first.keys() | second.keys())
    assert on_pieces["intersection_over_union"] == pytest.approx(sets, abs=1e-5)
    ratio = second.total() / first.total()
    assert on_pieces["length_ratio"] == pytest.approx(ratio, abs=1e-5)
    assert on_pieces != on_words


def test_pieces_are_those_of_the_text_and_then_lose_case_punctuation_and_mark():
    """ParaBank 2, 3.6."""
    pieces = {
        "The Sun's.": ["▁The", "▁S", "un", "'", "s."],
        "the suns": ["▁the", "▁sun", "s"],
        "sunrise": ["▁sun", "rise"],
        "Rise": ["▁", "R", "ise"],
    }

    class Pieces:
        def pieces(self, text):
            return pieces[text]

    found = diversity([("The Sun's.", "the suns")], Pieces())
    assert found["intersection_over_union"] == 50.0
    # What is only the mark is no piece, nor is a mark of punctuation.
    assert found["length_ratio"] == 0.75
    assert sentence("Rise", Pieces()).bags["pieces"] == {"r": 1, "ise": 1}
    assert diversity([("sunrise", "Rise")], Pieces())["intersection_over_union"] == 0.0


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_files(tmp_path, capsys):
    # A BOM, CRLF, a line separator that ends no line, no line feed at the end.
    references = write(tmp_path / "ref.txt", "\ufeffThe cat sat\r\non\u2028the mat\n".encode())
    paraphrases = write(tmp_path / "para.txt", "the cat sat\non the mat")
    main(["--references", str(references), "--paraphrases", str(paraphrases)])
    result = json.loads(capsys.readouterr().out)
    assert result["pairs"] == 2
    assert result["intersection_over_union"] == 100.0
    assert result.keys() == {
        *("pairs", "one_minus_bleu", "length_ratio"),
        *("intersection_over_union", "intersection_over_union_bags"),
    }
