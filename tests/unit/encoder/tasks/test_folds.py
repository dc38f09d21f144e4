import numpy as np
import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.encoder.tasks.disjoint_parts import folds
from workflow_scripts.stages.encoder.tasks.examples import Pair


def pairs(*texts):
    return [Pair(*each.split(), 0.0) for each in texts]


def test_each_example_is_in_one_fold_and_no_text_in_two():
    random = np.random.default_rng(1)
    examples = pairs(*(f"a{x} b{y}" for x, y in random.integers(0, 80, (100, 2))))
    found = folds(examples, 4, 1)
    assert sorted(np.concatenate(found)) == list(range(100))
    texts = [{text for place in fold for text in examples[place].texts()} for fold in found]
    for number, own in enumerate(texts):
        assert not own & set().union(*texts[:number])


def test_folds_have_the_same_size_and_follow_the_seed():
    examples = pairs(*(f"a{n} b{n}" for n in range(20)))
    found = folds(examples, 5, 1)
    assert [len(fold) for fold in found] == [4] * 5
    assert [list(each) for each in folds(examples, 5, 1)] == [list(each) for each in found]
    assert [list(each) for each in folds(examples, 5, 2)] != [list(each) for each in found]


def test_texts_that_are_shared_through_others_are_in_one_fold():
    found = folds(pairs("a b", "c d", "b c", "e f"), 2, 1)
    assert sorted(map(len, found)) == [1, 3]


def test_too_few_texts_are_refused():
    with pytest.raises(InputError, match="only 1 groups"):
        folds(pairs("a b", "b c"), 2, 1)
