import gzip

import numpy as np
import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.vectors import read_vectors


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_glove_and_word2vec_text_give_the_same(tmp_path):
    lines = "dog 1 2.5 -3\ncat\u00a0s 4 5 6e-1 \n"
    for name, text in (("glove.txt", lines), ("word2vec.txt", "2 3\n" + lines)):
        found = dict(read_vectors(written(tmp_path / name, text)))
        assert list(found) == ["dog", "cat\u00a0s"]
        assert found["dog"].dtype == np.float32
        assert found["cat\u00a0s"] == pytest.approx([4, 5, 0.6])


def test_compressed_files_are_read_and_of_a_word_the_first_vector_counts(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"a 1 2\nb 3 4\na 5 6\n"))
    assert {word: list(vector) for word, vector in read_vectors(path)} == {"a": [1, 2], "b": [3, 4]}


def test_vectors_of_one_number_are_no_header(tmp_path):
    found = dict(read_vectors(written(tmp_path / "v", "a 1\nb 2\n")))
    assert list(found) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 1 2\nb 1\n", "line 2: 1 numbers where the lines before have 2"),
        ("a 1 2\nb 1 x\n", "line 2: not a word and its numbers"),
        ("a 1 2\nb 1 nan\n", "line 2: not a word and its numbers"),
        ("a\n", "line 1: not a word and its numbers"),
        ("2 3\n", "no word vectors"),
        ("", "no word vectors"),
    ],
)
def test_damaged_files_are_named_with_the_line(tmp_path, text, expected):
    path = written(tmp_path / "vectors.txt", text)
    with pytest.raises(InputError, match=expected) as error:
        list(read_vectors(path))
    assert str(path) in str(error.value)


def test_missing_and_undecodable_files_are_named(tmp_path):
    (tmp_path / "latin").write_bytes(b"caf\xe9 1 2\n")
    for name in ("absent", "latin"):
        with pytest.raises(InputError, match=name):
            list(read_vectors(tmp_path / name))


def test_real_vectors(data_dir):
    found = dict(read_vectors(data_dir / "sample_vectors" / "sample_vec.txt"))
    assert len(found) == 1000
    assert {len(vector) for vector in found.values()} == {48}
    assert found["nunnery"][:2] == pytest.approx([0.277, 0.019486])
