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


@pytest.mark.parametrize(
    ("reference", "paraphrase", "kept", "worst", "spread"),
    [
        ("a b c", "c a b", 1, 1, 0),  # in another order
        ("a b c", "a b b", 2 / 3, (0 + 1) / 2, 0),  # one is lost
        ("a b", "a b c", 1, 1, np.std([1, 1, 0])),  # one is added
    ],
)
def test_a_lost_word_is_the_worst_kept_and_an_added_one_spreads(
    reference, paraphrase, kept, worst, spread
):
    values = found(reference, paraphrase)
    shown = [values[name] for name in ("tokens_kept", "worst_kept", "spread_added")]
    assert shown == pytest.approx([kept, worst, spread], abs=1e-6)


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
        ("doubled_words", "Please turn off the lights.", "Please turn Turn off the lights.", 1),
        ("doubled_words", "He had had it.", "He had had it, long, long ago.", 0),
        ("inner_capitals", "I left my umbrella.", "I Forgot My umbrella. He went.", 2),
        ("inner_capitals", "the president", "I think the President will", 0),  # a noun
        ("inner_capitals", "They say I Know it", "I know that I Know it", 0),
        ("respelt_words", "Sami told Layla it rained.", "Samhi told Laylas it raind.", 3),
        ("respelt_words", "Sami slept.", "Sami and Samhi slept.", 0),  # no word is lost
        ("respelt_words", "The plan was Plato's.", "It's Platus who planned.", 1),  # two steps
        ("respelt_words", "Sami slept.", "Semir slept.", 0),  # two steps of five letters
        ("respelt_words", "Blood has (Ig) in it.", "There is (lg) in blood.", 1),
        ("respelt_words", "It is a form.", "It is from there.", 0),  # a word of its own
        ("untranslated_words", "I was teased.", "There were chacots.", 0),  # no source
        ("lost_articles", "Could you send me a report?", "Could you send me report?", 1),
        ("lost_articles", "I'm a pretty good writer.", "I'm very good writer.", 1),
        ("lost_articles", "A dog or an old cat.", "Tom's dog, or my very old cat.", 0),
        ("lost_articles", "We have a lot of time.", "We have much time.", 0),
        ("lost_articles", "A strawberry ice cream.", "An ice cream of strawberry.", 0),
        ("exchanged_words", "In August we met on Mondays.", "In July we met on Fridays.", 2),
        ("exchanged_words", "Three days in May.", "They may stay three days.", 0),
        ("exchanged_words", "My father slept.", "My mother slept in the morning.", 1),
        ("changed_marks", "Is it (so)?", "It is so.", 1),
        ("changed_marks", 'He - went: "now"!', "He went; 'now'", 1),
        ("changed_marks", "He went, she said.", "He went (she / said.", 3),
        ("changed_marks", "It cost 5 percent.", "It - “cost” 5 %.", 0),
        ("changed_marks", "", "He went", 0),
    ],
)
def test_words(name, reference, paraphrase, value):
    assert one(name, reference, paraphrase) == value


def test_a_word_that_the_source_has_is_not_translated():
    def count(paraphrase):
        texts = ["Monegascos fazem chacotas."], ["They tease from Monaco."]
        pairs = Pairs(texts[1], [paraphrase], texts[0])
        return compute(pairs, ["untranslated_words"], Models())["untranslated_words"][0]

    assert count("Monegasco people do chacots.") == 2
    assert count("They tease fazer people.") == 1  # one step for four letters
    assert count("Monaco's people tease.") == 0


def test_what_is_english_is_unknown_for_other_languages():
    for name in (
        *("changed_pronouns", "invented_words", "dropped_words", "inner_capitals"),
        *("respelt_words", "untranslated_words", "lost_articles", "exchanged_words", "negation"),
    ):
        models = Models(language="pt")
        assert np.isnan(one(name, "Eu não vi.", "Vi.", models))
        assert "language" in FEATURES[name].missing(Pairs(["Eu vi."], ["Vi."]), models)


def test_the_root_of_the_nll_grows_with_the_length():
    assert one("forward_root", "a", "so it is .", forward_nll=0.2) == pytest.approx(1.0)
    assert np.isnan(one("forward_root", "a", "b", forward_nll=np.inf))
