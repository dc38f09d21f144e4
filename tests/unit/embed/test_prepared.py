import numpy as np
import pytest

from tests.unit.embed import examples
from tests.unit.embed.examples import flat
from workflow_scripts.encoding.tokens import Trigrams, Words
from workflow_scripts.stages.embed import prepared
from workflow_scripts.stages.embed.prepared import gather, key, prepare, read_prepared


def test_keys_are_equal_for_the_same_letters_and_digits():
    assert key("It's 5 o'clock!") == key("its 5 OCLOCK")
    assert len({key(text) for text in ("a", "b", "ab", "")}) == 4


@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_tokens_and_keys_come_back_as_they_were(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(prepared, "_CHUNK", chunk)
    pairs = examples.simulated_pairs(10)
    built = examples.model(pairs, encoders=["word", "trigram"])
    data = examples.prepared(pairs, built, tmp_path)
    assert data.pairs == len(pairs)
    texts = examples.sentences(pairs)
    assert data.keys.tolist() == [key(text) for text in texts]
    some = np.array([5, 0, 5, 3])
    for kind, tokeniser in built.tokenisers.items():
        expected = tokeniser.ids([texts[index] for index in some])
        assert flat(data.tokens[kind].of(some)) == flat(expected)


def test_pairs_with_a_side_without_tokens_are_left_out_and_counted(tmp_path):
    tokenisers = {"words": Words(["dog", "cat"]), "trigrams": Trigrams([" do", " ca"])}
    pairs = [("dog", "cat"), ("dog", "bird"), ("", "cat"), ("cat", "cat")]
    assert prepare(pairs, tokenisers, tmp_path) == 2
    data = read_prepared(tmp_path, tokenisers)
    assert data.keys.tolist() == list(map(key, ("dog", "cat", "cat", "cat")))
    assert flat(data.tokens["words"].of(np.arange(4))) == [[0], [1], [1], [1]]


def test_nothing_left_is_an_empty_set(tmp_path):
    tokenisers = {"words": Words(["dog"])}
    assert prepare([("x", "y")], tokenisers, tmp_path) == 1
    assert read_prepared(tmp_path, tokenisers).pairs == 0


def test_gathering_keeps_empty_sentences():
    ragged = np.array([7, 8, 9]), np.array([2, 0, 1])
    starts = np.array([0, 2, 2])
    assert flat(gather(ragged, starts, np.array([1, 2, 1, 0]))) == [[], [9], [], [7, 8]]
