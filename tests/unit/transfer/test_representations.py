import numpy as np
import pytest

from tests.tables import write_training_pairs
from tests.unit.embed import examples
from tests.unit.embed.test_train import collected
from workflow_scripts.core.errors import InputError
from workflow_scripts.encoding import embedding as embedding
from workflow_scripts.stages.embed import train
from workflow_scripts.stages.transfer import representations
from workflow_scripts.stages.transfer.representations import (
    Representation,
    bag_of_words,
    encoder,
    model,
    word_vectors,
)
from workflow_scripts.stages.transfer.senteval_readers import Row, TaskData

DATA = TaskData("MR", {"all": [Row(1.0, "Good film"), Row(0.0, "bad film"), Row(0.0, "")]}, [])


class Counted:
    """A representation that counts what it encodes."""

    def __init__(self, factor=1.0, identity="one"):
        self.encoded = []
        self.factor = factor
        self.representation = Representation(identity, lambda: self.encode)

    def encode(self, sentences):
        self.encoded += sentences
        return np.array([[len(each), 2.0] for each in sentences], np.float32) * self.factor


@pytest.mark.parametrize("kept", [False, True])
def test_each_different_sentence_is_encoded_once(tmp_path, kept):
    data = TaskData("MRPC", {"train": [Row(1.0, "a", "bb")], "test": [Row(0.0, "bb", "a")]}, [])
    counted = Counted()
    encode = encoder(counted.representation, data, tmp_path if kept else None)
    assert encode(["bb", "a", "bb"]).tolist() == [[2, 2], [1, 2], [2, 2]]
    assert counted.encoded == ["a", "bb"]


def test_tasks_of_the_same_sentences_share_their_vectors(tmp_path):
    rows = [Row(1.0, "a", "bb"), Row(0.0, "c", "a")]
    encoder(Counted().representation, TaskData("SICK-R", {"test": rows}, []), tmp_path)
    again = Counted()
    other = TaskData("SICK-E", {"test": rows[::-1]}, [])
    assert encoder(again.representation, other, tmp_path)(["c"]).tolist() == [[1, 2]]
    assert again.encoded == []


def test_kept_vectors_are_not_made_again_but_for_another_model_or_task(tmp_path):
    encoder(Counted().representation, DATA, tmp_path)
    again = Counted()
    assert encoder(again.representation, DATA, tmp_path)(["bad film"]).tolist() == [[8, 2]]
    assert again.encoded == []
    other = Counted(identity="two")
    encoder(other.representation, DATA, tmp_path)
    assert len(other.encoded) == 3
    smaller = Counted()
    encoder(smaller.representation, DATA._replace(parts={"all": DATA.tested[:1]}), tmp_path)
    assert smaller.encoded == ["Good film"]


@pytest.mark.parametrize(
    "damaged", [lambda whole: whole[:-3], lambda whole: whole[:-1] + b"U", None]
)
def test_damaged_vectors_are_made_again(tmp_path, damaged):
    encoder(Counted().representation, DATA, tmp_path)
    (path,) = tmp_path.glob("vectors-*.npy")
    if damaged:
        path.write_bytes(damaged(path.read_bytes()))
    else:
        path.with_suffix(".json").unlink()
    again = Counted()
    assert encoder(again.representation, DATA, tmp_path)([""]).tolist() == [[0, 2]]
    assert len(again.encoded) == 3


def test_scaled_vectors_have_a_mean_square_of_1_whatever_their_size():
    sentences = [row.first for row in DATA.tested]
    one, other = (
        encoder(Counted(factor).representation, DATA, None, scaled=True)(sentences)
        for factor in (1.0, 0.001)
    )
    assert np.mean(one**2) == pytest.approx(1)
    assert one == pytest.approx(other, rel=1e-4)
    zeros = encoder(Counted(0.0).representation, DATA, None, scaled=True)(sentences)
    assert not zeros.any()


def test_numbers_that_are_not_finite_are_refused(tmp_path):
    for work in (None, tmp_path):
        with pytest.raises(InputError, match="not finite"):
            encoder(Counted(np.nan).representation, DATA, work)
    assert not list(tmp_path.glob("vectors-*"))


def test_long_tasks_are_encoded_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(representations, "_CHUNK", 2)
    whole = encoder(Counted().representation, DATA, None)([row.first for row in DATA.tested])
    kept = encoder(Counted().representation, DATA, tmp_path)([row.first for row in DATA.tested])
    assert np.array_equal(whole, kept)


def test_bags_tell_which_words_a_sentence_has_in_lower_case():
    encode = encoder(bag_of_words(), DATA, None)
    found = encode(["Good good film", "film good", ""])
    assert found.shape == (3, 3)
    assert (found[0] != found[1]).nnz == 0
    assert found[0].sum() == 2
    assert found[2].nnz == 0


def test_word_vectors_are_averaged_by_word_then_by_its_lower_case(tmp_path):
    (tmp_path / "vectors.txt").write_text("good 1 3\nfilm 3 5\nGood 5 5\nunused 9 9\n", "utf-8")
    encode = encoder(word_vectors(tmp_path / "vectors.txt", [DATA]), DATA, None)
    assert encode(["Good film", "bad film", ""]).tolist() == [[4, 5], [3, 5], [0, 0]]
    lower = DATA._replace(parts={"all": [Row(1.0, "GOOD FILM")]})
    encode = encoder(word_vectors(tmp_path / "vectors.txt", [lower]), lower, None)
    assert encode(["GOOD FILM"]).tolist() == [[2, 4]]


def test_word_vectors_of_another_language_are_refused(tmp_path):
    (tmp_path / "vectors.txt").write_text("gut 1 3\nschlecht 3 5\n", "utf-8")
    with pytest.raises(InputError, match="none of the words of the tasks"):
        encoder(word_vectors(tmp_path / "vectors.txt", [DATA]), DATA, None)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedding")
    pairs = write_training_pairs(folder / "pairs.parquet", examples.simulated_pairs(20))
    train.main(examples.train_arguments(folder, pairs, collected(folder, [])))
    return folder / "1"


def test_an_embedding_is_tested_as_it_is_and_as_it_was(trained):
    sentences = [row.first for row in DATA.tested]
    for untrained in (False, True):
        found = encoder(model(trained, untrained), DATA, None)(sentences)
        assert np.array_equal(found, embedding.load(trained, untrained).encode(sentences))
    assert model(trained).identity != model(trained, untrained=True).identity


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such folder of a model"):
        model(tmp_path / "nothing")
    with pytest.raises(InputError, match="only an embedding of a run"):
        model(tmp_path, untrained=True)
    with pytest.raises(InputError, match="no model of sentence-transformers"):
        encoder(model(tmp_path), DATA, None)
