"""Features of tokens and of changed words."""

import numpy as np
import pytest

from tests.unit.judge.test_features import one
from tests.unit.sentence_transformer import write_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.encoding.interface import Read
from workflow_scripts.encoding.sentence_vectors import load_encoder
from workflow_scripts.stages.judge.features import FEATURES, Models, compute, token_matches
from workflow_scripts.stages.judge.known_pairs import Pairs

NAMES = [feature.name for feature in token_matches.FEATURES]


class Letters:
    """Each word has the counts of the letters a, b and c as its vector, in all layers."""

    def __init__(self):
        self.read_sentences = []

    def read(self, sentences):
        self.read_sentences += sentences
        return [self._read(sentence.split()) for sentence in sentences]

    def encode(self, sentences):
        raise AssertionError("the sentences were read before")

    @staticmethod
    def _read(words):
        rows = np.array([[w.count(x) for x in "abc"] for w in words], np.float32).reshape(-1, 3)
        return Read(np.stack([rows] * 3), rows.sum(axis=0))


def found(reference, paraphrase, names=NAMES):
    pairs = Pairs([reference], [paraphrase])
    return {k: v[0] for k, v in compute(pairs, names, Models(encoder=Letters())).items()}


def test_the_same_words_in_another_order_are_all_kept():
    values = found("a b c", "c a b")
    assert values["tokens_kept"] == values["worst_kept"] == pytest.approx(1)
    assert values["spread_added"] == pytest.approx(0)


def test_a_lost_word_is_the_worst_kept_and_an_added_one_spreads():
    values = found("a b c", "a b b")
    assert values["tokens_kept"] == pytest.approx(2 / 3)
    assert values["worst_kept"] == pytest.approx((0 + 1) / 2)
    assert values["spread_added"] == pytest.approx(0)
    added = found("a b", "a b c")
    assert added["tokens_kept"] == pytest.approx(1)
    assert added["spread_added"] == pytest.approx(np.std([1, 1, 0]))


def test_the_vector_of_the_reference_is_its_own_and_has_length_1():
    vector = found("a a b", "c")["reference_vector"]
    assert vector == pytest.approx(np.array([2, 1, 0]) / np.sqrt(5))


def test_a_side_without_tokens_is_unknown():
    values = found("a b", " ")
    assert all(np.isnan(values[name]) for name in NAMES if name != "reference_vector")


def test_each_sentence_is_read_once_for_all_features():
    encoder = Letters()
    pairs = Pairs(["a b"] * 3, ["a", "b", "a b"])
    values = compute(pairs, ["cosine", *NAMES], Models(encoder=encoder))
    assert sorted(encoder.read_sentences) == ["a", "a b", "b"]
    assert list(values) == ["cosine", *NAMES]
    assert values["cosine"][2] == pytest.approx(1)


def test_an_encoder_without_tokens_leaves_them_unknown():
    class Sentences:
        def encode(self, sentences):
            return np.ones((len(sentences), 2), np.float32)

    values = compute(Pairs(["a"], ["b"]), NAMES, Models(encoder=Sentences()))
    assert all(np.isnan(column).all() and column.shape == (1,) for column in values.values())


def test_a_model_of_sentence_transformers_is_read_by_layers(tmp_path):
    encoder = load_encoder(write_model(tmp_path, layers=3))
    sentences = ["the dog sees a cat .", "a cat", "the dog"]
    read = encoder.read(sentences)
    assert [vectors.tokens.shape for vectors in read] == [(3, 6, 8), (3, 2, 8), (3, 2, 8)]
    np.testing.assert_allclose(
        [vectors.sentence for vectors in read], encoder.encode(sentences), atol=1e-6
    )
    (alone,) = encoder.read(["a cat"])
    np.testing.assert_allclose(alone.tokens, read[1].tokens, atol=1e-6)


def test_a_model_of_too_few_layers_is_refused(sentence_transformer):
    with pytest.raises(InputError, match=r"gives 2 layers of vectors of tokens, .* need 3"):
        load_encoder(sentence_transformer).read(["a cat"])


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reference", "paraphrase", "value"),
    [
        ("changed_pronouns", "I saw him.", "I saw her.", 2),
        ("changed_pronouns", "He's here, I think.", "I think he is here.", 0),
        ("invented_words", "The dress is contemporary.", "The dress is contemucious.", 1),
        ("invented_words", "Mary left.", "Mary has gone.", 0),
        ("invented_words", "Mary left.", "Tone has gone.", 0),  # an English word, too
        ("invented_words", "Mary left.", "Marya went.", 1),
        ("invented_words", "I won't go.", "I willn't go.", 1),
        ("dropped_words", "We met in the old house.", "We met in the house.", 1),
        ("dropped_words", "We met in the house.", "We met in a house.", 0),
        ("dropped_words", "The dog sleeps.", "The cat sleeps.", 0),  # replaced
        ("repeated_words", "A dog runs.", "A dog, a dog runs and runs.", 1),
        ("repeated_words", "It runs and runs.", "It runs, and runs.", 0),
    ],
)
def test_words(name, reference, paraphrase, value):
    assert one(name, reference, paraphrase) == value


def test_what_is_english_is_unknown_for_other_languages():
    for name in ("changed_pronouns", "invented_words", "dropped_words"):
        assert np.isnan(one(name, "Eu vi.", "Vi.", Models(language="pt")))
        assert FEATURES[name].languages


def test_the_root_of_the_nll_grows_with_the_length():
    assert one("forward_root", "a", "so it is .", forward_nll=0.2) == pytest.approx(1.0)
    assert np.isnan(one("forward_root", "a", "b", forward_nll=np.inf))
