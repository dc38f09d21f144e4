import math
from collections import Counter

import pyarrow as pa
import pytest
import sacrebleu
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.evaluate.diversity import Overlap, sentence
from workflow_scripts.stages.filter import pair_measures
from workflow_scripts.stages.filter.columns import Counter as Ngrams

vocabulary = ["the", "The", "a", "dog", "dogs", "sees", "cat.", "cat"]
vocabulary += [",", "3.5", "it's", "x-ray", "&"]
sentences = st.lists(st.sampled_from(vocabulary), max_size=12).map(" ".join)
pairs = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=8)


def counts(pairs):
    return Ngrams().counts(*(pa.array(side) for side in zip(*pairs, strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize("method", pair_measures.SACREBLEU)
@settings(deadline=None)
@given(pairs)
@example([("", ""), ("a", ""), ("", "a"), ("a b", "b a"), ("a b c d e", "a b c d e")])
@example([("a b c d", "c"), ("dog dog", "dog dog dog dog dog"), ("a b x d e", "a b c d e f g")])
def test_variants_of_sacrebleu_equal_it(method, pairs):
    _, tokens = counts(pairs)
    found = pair_measures.sacrebleu(tokens, method).tolist()
    expected = [
        sacrebleu.sentence_bleu(second, [first], smooth_method=method).score
        for first, second in pairs
    ]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def nakov(first, second):
    """BLEU, one added to matches and n-grams of every order and to the reference's length."""
    logs = 0.0
    for order in range(1, 5):
        one, other = (
            Counter(tuple(side[i : i + order]) for i in range(len(side) - order + 1))
            for side in (first, second)
        )
        logs += math.log(((one & other).total() + 1) / (other.total() + 1)) / 4
    return 100 * math.exp(min(0.0, 1 - (len(first) + 1) / len(second)) + logs) if second else 0.0


@pytest.mark.slow
@settings(deadline=None)
@given(pairs)
def test_bleu_nakov(pairs):
    found, _ = counts(pairs)
    expected = [nakov(words(first), words(second)) for first, second in pairs]
    assert pair_measures.bleu_nakov(found).tolist() == pytest.approx(expected)


@pytest.mark.slow
@settings(deadline=None)
@given(pairs)
def test_intersection_over_union_is_that_of_evaluate(pairs):
    sides, _ = Ngrams().sides(*(pa.array(side) for side in zip(*pairs, strict=True)))
    found = {
        "intersection_over_union": pair_measures.intersection_over_union(*sides),
        "intersection_over_union_bags": pair_measures.intersection_over_union_bags(
            counts(pairs)[0]
        ),
    }
    for name, values in found.items():
        for (first, second), value in zip(pairs, values, strict=True):
            overlap = Overlap()
            overlap.add(sentence(first), sentence(second), "words")
            assert value == pytest.approx(getattr(overlap, name))


def test_overlap_is_of_the_shorter_side():
    found, _ = counts([("The dog sees a cat.", "a dog sees the dog"), ("Yes!", "yes"), ("", "a")])
    assert pair_measures.overlap(found, 1).tolist() == [4 / 5, 1.0, 0.0]
    assert pair_measures.overlap(found, 2).tolist() == [2 / 4, 0.0, 0.0]
    assert pair_measures.overlap(found, 3).tolist() == [0.0, 0.0, 0.0]
