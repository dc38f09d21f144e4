from collections import Counter

import numpy as np
import pytest

from workflow_scripts.stages.generate.constraints import blocked_words, constraint_sets, share

CONFIG = {"kind": "negative", "choose": "random", "sets": 5, "fraction": [0.0, 0.333]}
REFERENCE = "The one two three four five six seven eight , 9 ."  # nine words


def letters(text):
    return ["▁" + text[0], *text[1:]]


def draw(identifier="c:1", reference=REFERENCE, seed=1, **changes):
    return constraint_sets(reference, identifier, CONFIG | changes, seed, letters)


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0), (0.333, 1 / 3), (0.3333, 1 / 3), (0.25, 0.25), (1.0, 1)]
)
def test_share_reads_rounded_thirds_as_thirds(value, expected):
    assert float(share(value)) == expected


@pytest.mark.slow
def test_the_number_of_words_is_uniform_and_each_word_as_likely_as_another():
    numbers, words = Counter(), Counter()
    for identifier in range(2000):
        for constraints in draw(f"c:{identifier}"):
            numbers[len(constraints.avoid)] += 1
            words.update(constraints.avoid)
    # 10,000 sets: four numbers of 2,500 (standard deviation 43), nine words of 1,667 (37).
    assert sorted(numbers) == [0, 1, 2, 3]
    assert all(abs(count - 2500) < 220 for count in numbers.values())
    assert sorted(words) == sorted(REFERENCE.split()[:9])
    assert all(abs(count - 15_000 / 9) < 190 for count in words.values())


@pytest.mark.slow
def test_sets_are_independent_draws():
    pairs = [
        tuple(len(constraints.avoid) for constraints in draw(f"c:{identifier}")[:2])
        for identifier in range(4000)
    ]
    assert abs(np.corrcoef(np.array(pairs).T)[0, 1]) < 0.08


def test_draws_depend_on_seed_and_id_alone():
    assert draw() == draw()
    assert draw() != draw(seed=2)
    assert draw() != draw("c:2")
    assert draw(sets=2) == draw()[:2]


@pytest.mark.parametrize(
    ("fraction", "words", "allowed"),
    [([0.0, 0.333], 3, {0, 1}), ([0.0, 0.333], 2, {0}), ([0.5, 0.5], 5, {2}), ([1, 1], 4, {4})],
)
def test_bounds_are_rounded_down(fraction, words, allowed):
    reference = " ".join(["one", "two", "three", "four", "five"][:words])
    found = {
        len(constraints.avoid)
        for identifier in range(60)
        for constraints in draw(f"c:{identifier}", reference, fraction=fraction)
    }
    assert found == allowed


def test_exactly_the_word_is_forbidden_or_all_its_case_forms_as_one_word():
    (constraints,) = draw(reference="The cat the", sets=1, fraction=[1, 1])
    assert constraints.avoid == ["The", "cat", "the"]
    assert constraints.spellings == {"The", "cat", "the"}
    (constraints,) = draw(reference='The cat "the', sets=1, fraction=[1, 1], case=True)
    assert constraints.avoid == ["The", "cat"]
    assert constraints.spellings == {"The", "the", "cat", "Cat"}
    assert constraints.phrases == {
        tuple(letters(text)) for text in ["The", "the", "cat", "Cat", '"The', '"the']
    }


def test_no_constraints_is_one_empty_set():
    (constraints,) = constraint_sets(REFERENCE, "c:1", None, 1, letters)
    assert not constraints.avoid and not constraints.phrases


def test_a_reference_without_words_has_empty_sets():
    assert [constraints.avoid for constraints in draw(reference="3 . 14 !")] == [[]] * 5


def test_blocked_words_are_those_that_begin_like_a_forbidden_one():
    (constraints,) = draw(reference="for cats", sets=1, fraction=[1, 1], case=True)
    lexicon = ["For", "forty", "cats", "before", "a", "forest", "The", "fort"]
    assert blocked_words([constraints], lexicon, letters) == {"forty", "forest", "fort"}
