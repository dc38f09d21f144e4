from collections import Counter

import numpy as np
import pytest

from tests.unit.embed.examples import MODEL, model, sentences, simulated_pairs
from workflow_scripts.core.errors import InputError
from workflow_scripts.encoding.tokens import Words
from workflow_scripts.stages.embed import initial
from workflow_scripts.stages.embed.initial import (
    counted_vocabulary,
    initial_model,
    sampled,
    train_pieces,
)

PAIRS = simulated_pairs(60)


def test_vocabulary_is_by_frequency_then_alphabet():
    tokens = list("bacabd")
    assert counted_vocabulary(tokens, 1, 10) == ["a", "b", "c", "d"]
    assert counted_vocabulary(tokens, 2, 10) == ["a", "b"]
    assert counted_vocabulary(tokens, 1, 3) == ["a", "b", "c"]


def test_a_sample_is_seeded_and_has_all_that_is_no_more():
    few = list(map(str, range(50)))
    assert list(sampled(lambda: few, 50, 1)) == few
    assert list(sampled(lambda: [], 50, 1)) == []
    many = list(map(str, range(10_000)))
    drawn = list(sampled(lambda: many, 1000, 1))
    assert 850 < len(drawn) < 1150
    assert drawn == list(sampled(lambda: many, 1000, 1))
    assert drawn != list(sampled(lambda: many, 1000, 2))


def test_pieces_are_learnt_from_a_sample(monkeypatch):
    given = []
    learn = initial.train_pieces

    def train(sentences, size):
        given.extend(sentences)
        return learn(given, size)

    monkeypatch.setattr(initial, "train_pieces", train)
    monkeypatch.setattr(initial, "PIECE_SENTENCES", 60)
    model(PAIRS, tokens="pieces", vocabulary=80)
    assert 30 < len(given) < 90 < len(sentences(PAIRS))


def test_random_vectors_have_the_papers_spread_and_depend_on_the_seeds():
    built = model(PAIRS, dimension=64)
    vectors = built.network.tables[0].detach().numpy()
    assert vectors.std() == pytest.approx(0.01, rel=0.03)
    assert abs(vectors.mean()) < 0.001
    again = model(PAIRS, dimension=64)
    assert np.array_equal(vectors, again.network.tables[0].detach().numpy())
    for seeds in ((1, 2), (2, 1)):
        other = initial_model(MODEL | {"dimension": 64}, lambda: sentences(PAIRS), *seeds)
        assert not np.array_equal(vectors, other.network.tables[0].detach().numpy())


def test_all_words_of_the_text_have_a_vector_and_no_others():
    counts = Counter(word for text in sentences(PAIRS) for word in Words.split(text))
    assert set(model(PAIRS).tokenisers["words"].vocabulary) == set(counts)
    few = model(PAIRS, min_count=5).tokenisers["words"].vocabulary
    assert set(few) == {word for word, count in counts.items() if count >= 5}


def test_a_file_gives_its_vectors_to_words_of_the_text_and_fills_up_the_vocabulary(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("zebra 1 2\nthe 3 4\nyak 5 6\nxylophone 7 8\n", encoding="utf-8")
    text = len(model(PAIRS).tokenisers["words"])
    built = model(PAIRS, vectors=str(path), dimension=2, vocabulary=text + 2)
    words = built.tokenisers["words"].vocabulary
    assert words[-2:] == ["zebra", "yak"]
    assert len(words) == text + 2
    vectors = built.network.tables[0].detach()
    assert vectors[words.index("the")].tolist() == [3, 4]
    assert vectors[words.index("yak")].tolist() == [5, 6]
    assert vectors[words.index("the") + 1].abs().max() < 0.1


def test_what_a_file_lacks_and_its_bad_lines_are_told(tmp_path, capsys):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"zebra 1 2\nthe 3 4\n 5 6\ncaf\xe9 7 8\n")
    figures = {}
    settings = MODEL | {"vectors": str(path), "dimension": 2}
    initial_model(settings, lambda: sentences(PAIRS), 1, 1, figures)
    words = len(model(PAIRS).tokenisers["words"])
    assert figures["vectors"] == {
        **{"read": 2, "known": 1, "words": words},
        "rejected": {"dimension": 1, "not_utf8": 1},
    }
    assert f"1 of the {words:,} words of the training set have one" in capsys.readouterr().err


def test_a_file_with_none_of_the_words_is_an_error(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("THE 3 4\nZEBRA 1 2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"it has none of the \d+ words of the training set"):
        model(PAIRS, vectors=str(path), dimension=2)


def test_combinations_share_the_words_and_not_the_vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 3 4\n", encoding="utf-8")
    built = model(PAIRS, encoders=["word", "trigram", "lstm"], vectors=str(path), dimension=2)
    assert set(built.tokenisers) == {"words", "trigrams"}
    place = built.tokenisers["words"].vocabulary.index("the")
    word, trigram, lstm = (table.detach() for table in built.network.tables)
    assert word[place].tolist() == lstm[place].tolist() == [3, 4]
    assert not np.allclose(word[place + 1 :], lstm[place + 1 :])
    assert trigram.abs().max() < 0.1


def test_another_dimension_than_the_files_is_an_error(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 3 4\n", encoding="utf-8")
    with pytest.raises(InputError, match="set it to 2"):
        model(PAIRS, vectors=str(path))


def test_a_text_without_tokens_is_an_error():
    with pytest.raises(InputError, match="no token"):
        model([("!", "?")])
    with pytest.raises(InputError, match="can't learn 50 pieces"):
        train_pieces(iter([]), 50)
