"""What words were changed, dropped, repeated or made up; what tokens are kept: worked examples."""

import numpy as np
import pytest

from workflow_scripts.judge.encoder import load_encoder
from workflow_scripts.judge.features import Models, compute
from workflow_scripts.judge.features.alignment import LAYERS, Read
from workflow_scripts.judge.pairs import Pairs


def one(name, reference, paraphrase, language="en"):
    found = compute(Pairs([reference], [paraphrase]), [name], Models(language=language))
    return found[name][0]


@pytest.mark.parametrize(
    ("name", "reference", "paraphrase", "number"),
    [
        ("changed_pronouns", "Your blouse fits.", "Her blouse fits.", 2),
        ("changed_pronouns", "I think he's here.", "He is here, I think.", 0),
        ("changed_pronouns", "He saw him.", "He left.", 1),
        ("invented_words", "The dress is new.", "The dress is contemucious.", 1),
        ("invented_words", "Zorg is here.", "I think Zorg isn't here.", 0),
        ("invented_words", "Tom will go.", "Tom willn't go.", 1),
        ("dropped_words", "The old man sees the dog.", "The man sees the dog.", 1),
        ("dropped_words", "The old man sees the dog.", "The young man sees a dog.", 0),
        ("dropped_words", "He was here.", "He here.", 0),  # grammar, no content
        ("repeated_words", "The house is red.", "The house is a red house house.", 2),
        ("repeated_words", "A house by a house.", "A house at a house.", 0),
        ("repeated_words", "It is so.", "It is so so so.", 0),  # short words
    ],
)
def test_numbers_of_words(name, reference, paraphrase, number):
    assert one(name, reference, paraphrase) == number


@pytest.mark.parametrize("name", ["changed_pronouns", "invented_words", "dropped_words"])
def test_lists_of_words_are_english(name):
    assert np.isnan(one(name, "Ele come.", "Ela come.", language="pt"))


class Letters:
    """Reads a letter as a token; each layer has other vectors, of letters a and b alone."""

    def __init__(self):
        self.asked = []

    def read(self, sentences):
        self.asked += sentences
        vectors = {"a": [1.0, 0.0], "b": [0.0, 2.0], "c": [3.0, 4.0]}
        tokens = [np.array([vectors[each] for each in text], np.float32) for text in sentences]
        return [Read(np.stack([each.reshape(-1, 2)] * LAYERS), np.ones(2)) for each in tokens]

    def encode(self, sentences):
        raise AssertionError("it was read already")


def test_tokens_that_are_kept():
    encoder = Letters()
    # b is nearest to c, by 0.8; c to itself.
    pairs = Pairs(["aabc", "aabc", "a"], ["aac", "ac", ""])
    names = ["cosine", "tokens_kept", "tokens_kept_below", "worst_kept", "spread_added"]
    found = compute(pairs, names, Models(encoder=encoder))
    assert sorted(encoder.asked) == ["", "a", "aabc", "aac", "ac"]  # each sentence once
    np.testing.assert_allclose(found["tokens_kept"], [3.8 / 4, 3.8 / 4, np.nan], rtol=1e-6)
    np.testing.assert_allclose(found["tokens_kept_below"], found["tokens_kept"])
    np.testing.assert_allclose(found["worst_kept"], [0.9, 0.9, np.nan], rtol=1e-6)
    np.testing.assert_allclose(found["spread_added"], [0, 0, np.nan], atol=1e-6)
    np.testing.assert_allclose(found["cosine"], 1, rtol=1e-6)


def test_a_token_that_is_added_is_unlike_the_others():
    found = compute(Pairs(["a"], ["ab"]), ["spread_added"], Models(encoder=Letters()))
    assert found["spread_added"][0] == pytest.approx(0.5)


def test_an_encoder_without_layers_gives_no_number():
    class Plain:
        def encode(self, sentences):
            return np.ones((len(sentences), 2), np.float32)

    found = compute(Pairs(["a"], ["b"]), ["tokens_kept", "cosine"], Models(encoder=Plain()))
    assert np.isnan(found["tokens_kept"][0]) and found["cosine"][0] == pytest.approx(1)


def test_a_model_of_sentence_transformers_is_read_by_tokens(sentence_transformer):
    """The model of the tests has two layers: its words, and one of attention."""
    from workflow_scripts.core.errors import InputError

    with pytest.raises(InputError, match=f"gives 2 layers .* need {LAYERS}; name another encoder"):
        load_encoder(sentence_transformer).read(["a dog"])
