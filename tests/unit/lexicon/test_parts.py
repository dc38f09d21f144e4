"""The parts of the extraction against plain computations of the same."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from workflow_scripts.stages.lexicon import texts
from workflow_scripts.stages.lexicon.alignment import aligned, cells, joined, learnt, same_words
from workflow_scripts.stages.lexicon.counting import Counts, merged, summed
from workflow_scripts.stages.lexicon.entry_scores import mutual_information, probability, score
from workflow_scripts.stages.lexicon.phrase_pairs import (
    counted,
    first_words,
    has_marked,
    last_words,
    packed,
    phrase_pairs,
    unpacked,
)
from workflow_scripts.stages.lexicon.texts import PAD, Numbers, Pairs, padded
from workflow_scripts.stages.lexicon.together import across, distinct, inside


def numbered(*pairs, words=("a", "b", "c", "d", "e", "f", "the")):
    numbers = Numbers(words)
    return [tuple(map(numbers.tokens.of, pair)) for pair in pairs]


def batch(*pairs):
    as_numbers = numbered(*pairs)
    return Pairs(*(padded([pair[side] for pair in as_numbers], PAD[side]) for side in (0, 1)))


def test_words_are_lower_cased_and_have_a_letter():
    numbers = Numbers(["dog", "don't"]).tokens
    assert numbers.of("Dog, DON'T!")[::2] == [1, 2]
    _, comma, _, mark = numbers.of("Dog, DON'T!")
    assert comma >= texts.OTHER and mark >= texts.OTHER and comma != mark
    unknown, number = numbers.of("cat 3")
    assert texts.UNKNOWN <= unknown < texts.OTHER <= number
    assert not texts.is_word("3.5") and texts.is_word("4th")


def test_other_tokens_are_forgotten_without_a_trace_in_the_words(monkeypatch):
    monkeypatch.setattr(texts, "_CAPACITY", 2)
    numbers = Numbers(["dog"])
    before = numbers.tokens.of("dog x y z")
    numbers.forget()
    assert numbers.tokens.of("z dog")[1] == before[0] == 1
    assert numbers.tokens.of("z dog")[0] == texts.UNKNOWN


def test_batches_have_every_pair_once():
    pairs = [([1] * one, [2] * other) for one, other in itertools.product(range(4), range(5))]
    lengths = Counter()
    for some in texts.batches(pairs):
        lengths.update(
            (int((one >= 0).sum()), int((other >= 0).sum()))
            for one, other in zip(*some, strict=True)
        )
    assert lengths == Counter((len(one), len(other)) for one, other in pairs)


@pytest.mark.parametrize(
    ("pair", "links"),
    [
        (("a b c", "a d c"), [0, -1, 2]),
        (("a b", "b a"), [1, 0]),
        (("the a the b", "the b the a"), [2, 3, 0, 1]),
        (("the a the b", "the b"), [-1, -1, 0, 1]),  # that whose neighbour is equal
        (("A, 3", "a 3 ,"), [0, 2, 1]),
    ],
)
def test_equal_tokens_are_linked(pair, links):
    assert same_words(batch(pair)).tolist() == [links]


def test_alignment_is_learnt_from_what_is_left():
    # Alone, "b c" beside "d e" could be either way; the other pairs tell.
    pairs = [("a b", "a d"), ("the b", "the d"), ("c f", "e f")] * 3 + [("b c a", "e d a")]
    some = batch(*pairs)
    table = learnt(joined([cells(some, same_words(some))]), 7)
    links = aligned(some, table)
    assert links[0].tolist()[:2] == [0, 1]
    assert links[-1].tolist() == [1, 0, 2]


def test_batches_of_a_sample_are_one():
    pairs = [("a b", "a d"), ("c f", "e f"), ("a c", "e a")]
    whole = batch(*pairs)
    one = cells(whole, same_words(whole))
    parts = [batch(pair) for pair in pairs]
    two = joined([cells(part, same_words(part)) for part in parts])
    for counts in (one, two):
        table = learnt(counts, 7)
        assert len(counts.pair) == 3 and len(set(counts.row.tolist())) == 3
        assert table.totals.sum() == pytest.approx(2 * table.counts.sum())
    np.testing.assert_allclose(learnt(one, 7).counts, learnt(two, 7).counts, rtol=1e-5)


def test_phrases_with_a_marked_word():
    phrases = packed([np.array([2, 1, 1, 3]), np.array([0, 2, 3, 0]), np.array([0, 0, 2, 0])])
    assert has_marked(phrases, np.array([False, True, False])).tolist() == [True, True, True, False]
    assert not has_marked(phrases, np.zeros(3, bool)).any()


def test_phrases_are_packed_and_unpacked():
    words = [np.array([5, 1]), np.array([(1 << 21) - 1, 0]), np.array([7, 0])]
    numbers = packed(words)
    assert unpacked(int(numbers[0])) == [5, (1 << 21) - 1, 7]
    assert unpacked(int(numbers[1])) == [1]
    assert first_words(numbers).tolist() == [5, 1]
    assert last_words(numbers).tolist() == [7, 1]


def consistent(first, second, links, most):
    """Return the pairs of phrases by the definition of Koehn et al. (2003), as words."""
    phrases = []
    spans = lambda words: [  # noqa: E731
        range(start, start + length)
        for length in range(1, most + 1)
        for start in range(len(words) - length + 1)
    ]
    pairs = [(one, other) for one, other in enumerate(links) if other >= 0]
    for one, other in itertools.product(spans(first), spans(second)):
        inside = [(row in one, column in other) for row, column in pairs]
        if (True, True) in inside and not {(True, False), (False, True)} & set(inside):
            sides = ([first[place] for place in one], [second[place] for place in other])
            if all(0 < word < texts.UNKNOWN for side in sides for word in side):
                phrases.append(tuple(map(tuple, sides)))
    return sorted(phrases)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_phrases_are_those_of_the_definition(most):
    random = np.random.default_rng(0)
    for _ in range(60):
        first, second = (random.integers(1, 6, random.integers(1, 7)).tolist() for _ in range(2))
        first[0] = texts.OTHER if random.random() < 0.3 else first[0]
        links = np.full(len(first), -1, np.int16)
        number = random.integers(0, min(len(first), len(second)) + 1)
        rows = random.permutation(len(first))[:number]
        links[rows] = random.permutation(len(second))[:number]
        pairs = Pairs(padded([first], PAD[0]), padded([second], PAD[1]))
        extracted = phrase_pairs(pairs, links[None, :], most)
        phrases = sorted(
            (tuple(unpacked(int(one))), tuple(unpacked(int(other))))
            for one, other in zip(extracted.first, extracted.second, strict=True)
        )
        assert phrases == consistent(first, second, links.tolist(), most)


def test_a_pair_of_sentences_counts_a_pair_of_phrases_once():
    some = batch(("a b", "a b"), ("a a", "a a"))
    counts = counted(phrase_pairs(some, same_words(some), 1))
    assert sorted(map(tuple, counts.tolist())) == [(1, 1), (1, 1), (2, 2)]


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("rows", [3, 50, 10_000])
@pytest.mark.parametrize("runs", [2, 7, 128])
def test_counts_on_disk_are_those_in_memory(tmp_path, width, rows, runs, monkeypatch):
    monkeypatch.setattr("workflow_scripts.stages.lexicon.counting.BLOCK_ROWS", 4)
    monkeypatch.setattr("workflow_scripts.stages.lexicon.counting.MOST_RUNS", runs)
    random = np.random.default_rng(1)
    every = Counter()
    with Counts(tmp_path, "some", width, rows) as counts:
        for _ in range(40):
            keys = random.integers(0, 6, (random.integers(0, 20), width))
            every.update(map(tuple, keys.tolist()))
            counts.add(keys)
            assert len(list(tmp_path.glob("*/*"))) < runs
        blocks = list(counts.blocks())
    stored = [tuple(row) for block in blocks for row in block.tolist()]
    assert stored == [(*key, count) for key, count in sorted(every.items())]
    assert not list(tmp_path.iterdir())


def test_no_counts_are_no_blocks(tmp_path):
    with Counts(tmp_path, "none", 2) as counts:
        assert list(counts.blocks()) == []
    assert list(merged([])) == []
    assert summed(np.zeros((0, 2), np.int64)).shape == (0, 3)


def test_words_that_stand_together():
    random = np.random.default_rng(2)
    sides = [random.integers(-1, 6, (30, 5)).astype(np.int32) for _ in range(2)]
    sides[0][3, 2] = texts.UNKNOWN + 1
    words = [[{w for w in row if 0 < w < texts.UNKNOWN} for row in side.tolist()] for side in sides]
    cross, within = Counter(), Counter()
    for one, other in zip(*words, strict=True):
        cross.update(
            tuple(sorted(both)) for both in itertools.product(one, other) if len({*both}) > 1
        )
    for row in itertools.chain(*words):
        within.update(itertools.combinations(sorted(row), 2))
    key = lambda both: (both[0] << texts.WORD_BITS) | both[1]  # noqa: E731
    first, second = map(distinct, sides)
    counts = Counter(across(first, second)[:, 0].tolist())
    assert counts == {key(both): count for both, count in cross.items()}
    counts = Counter(np.concatenate([inside(first), inside(second)])[:, 0].tolist())
    assert counts == {key(both): count for both, count in within.items()}


def test_figures_against_their_formulas():
    count, total, other = (np.array([number]) for number in (6, 9, 12))
    assert probability(count, total)[0] == pytest.approx(6 / 9)
    assert score(count, total, other)[0] == pytest.approx(math.log(6 / math.sqrt(29 * 32)))
    # 40 of 50 says more than 5 of 5.
    often, seldom = (np.array([number]) for number in (40, 5))
    assert score(often, often + 10, often + 10) > score(seldom, seldom, seldom)
    expected = 9 * 12 / 50
    information = mutual_information(count, total, other, 50)
    assert information[0] == pytest.approx(math.log(7 / (expected + 1)))
    # Of frequent words it is the usual one; of words that are never expected together it is 0.
    many = mutual_information(count * 1000, total * 1000, other * 1000, 50_000)
    assert many[0] == pytest.approx(math.log(6 / expected), abs=1e-3)
    assert mutual_information(count * 0, count, count, 10**9)[0] == pytest.approx(0, abs=1e-6)
