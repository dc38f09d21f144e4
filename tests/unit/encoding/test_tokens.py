import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.embed.examples import flat, simulated_pairs
from workflow_scripts.encoding.tokens import KINDS, Trigrams, Words
from workflow_scripts.stages.embed.initial import train_pieces

VOCABULARY = ["a", "dog", "u.s.", "it's", ".", "café", "b"]
texts = st.text(alphabet="aAbdogDOG.,!' \n\t\u00a0éÉß\u2028İ", max_size=30)


@pytest.mark.slow
@given(st.lists(texts, min_size=1, max_size=4))
@example(["The dog, U.S. - it's A dog!", ""])
def test_words_are_those_of_the_library(sentences):
    # Here, as each worker that collects the tests would load it.
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    library = WhitespaceTokenizer(VOCABULARY, stop_words=[], do_lower_case=True)
    expected = [library.tokenize(sentence) for sentence in sentences]
    ids, lengths = Words(VOCABULARY).ids(sentences)
    assert flat((ids, lengths)) == expected
    assert ids.dtype == np.int64


def test_a_word_loses_the_punctuation_around_it_and_only_that():
    assert list(Words.split('"Don\'t," said U.S. -- no!')) == ["don't", "said", "u.s", "no"]


def test_what_is_remembered_stays_bounded(monkeypatch):
    monkeypatch.setattr("workflow_scripts.encoding.tokens._REMEMBERED", 2)
    words = Words(["x"])
    assert flat(words.ids(["a b c d x", "e! x!"])) == [[0], [0]]
    assert len(words._ids) == 3


@given(st.lists(st.text(alphabet="abc \t😀é", max_size=12), min_size=1, max_size=5))
@example(["", " ", "a"])
def test_trigrams_are_all_letters_in_a_row_with_blanks_and_both_ends(sentences):
    def naive(sentence):
        text = " " + " ".join(sentence.lower().split()) + " "
        return [text[n : n + 3] for n in range(len(text) - 2)]

    everything = sorted({trigram for sentence in sentences for trigram in naive(sentence)})
    known = everything[::2]
    expected = [[known.index(t) for t in naive(s) if t in known] for s in sentences]
    assert flat(Trigrams(known).ids(sentences)) == expected
    assert [list(Trigrams.split(sentence)) for sentence in sentences] == list(map(naive, sentences))


def test_pieces_are_lower_cased_and_the_unknown_is_left_out():
    pieces = train_pieces((text for pair in simulated_pairs(40) for text in pair), 80)
    lower, upper, strange = flat(pieces.ids(["the doctor", "THE Doctor", "the Ж doctor"]))
    assert lower == upper
    assert pieces.vocabulary[lower[0]].startswith("▁")
    assert "<unk>" not in {pieces.vocabulary[index] for index in strange}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_saved_vocabularies_give_the_same_ids(kind, tmp_path):
    sentences = [text for pair in simulated_pairs(40) for text in pair]
    if kind == "pieces":
        tokeniser = train_pieces(iter(sentences), 80)
    else:
        seen = {token for text in sentences for token in KINDS[kind].split(text)}
        tokeniser = KINDS[kind](sorted(seen))
    tokeniser.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [tokeniser.file]
    loaded = KINDS[kind].load(tmp_path)
    assert loaded.vocabulary == tokeniser.vocabulary
    assert len(loaded) == len(tokeniser.vocabulary)
    assert flat(loaded.ids(sentences)) == flat(tokeniser.ids(sentences))
