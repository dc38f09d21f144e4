import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.vocabulary import SYMBOLS, UNK, Vocabulary


def test_ids_and_pieces_are_inverse():
    vocabulary = Vocabulary([*SYMBOLS, "▁a", "b"])
    assert vocabulary.ids(["b", "▁a", "▁missing"]) == [5, 4, UNK]
    assert vocabulary.pieces([5, 4]) == ["b", "▁a"]
    assert len(vocabulary) == vocabulary.words == 6
    assert "b" in vocabulary
    assert "c" not in vocabulary


def test_filling_entries_are_no_words():
    vocabulary = Vocabulary([*SYMBOLS, "▁a", "<pad5>", "<pad6>"])
    assert len(vocabulary) == 7
    assert vocabulary.words == 5


@pytest.mark.parametrize("pieces", [["▁a"], [*SYMBOLS, "a", "a"]])
def test_impossible_vocabularies_are_refused(pieces: list[str]):
    with pytest.raises(InputError):
        Vocabulary(pieces)


def test_a_word_ends_before_a_new_one_and_before_punctuation():
    pieces = ["▁", "▁for", "ty", "7", "́", "'", ".”", "-x"]
    expected = [True, True, False, False, False, True, True, False]
    assert Vocabulary([*SYMBOLS, *pieces]).ends_word == [True] * len(SYMBOLS) + expected
