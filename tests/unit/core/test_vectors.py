import bz2
import gzip
import lzma

import numpy as np
import pytest
import zstandard

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.vectors import read_vectors


def written(path, text):
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
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


PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


@pytest.mark.parametrize("suffix", PACK)
def test_packed_files_are_read_whole_or_refused(tmp_path, suffix):
    path = tmp_path / f"vectors.{suffix}"
    packed = PACK[suffix](b"".join(b"w%d 1 2 3\n" % number for number in range(1000)))
    path.write_bytes(packed)
    assert len(list(read_vectors(path))) == 1000
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 4
    for damaged in (packed[:-9], packed[: len(packed) // 2], bytes(flipped), packed + b"text"):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=rf"vectors\.{suffix}: can't be read beyond line"):
            list(read_vectors(path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 1 2\nb 1\n", "line 2: 1 numbers where the lines before have 2"),
        ("a 1 2\nb 1 x\n", "line 2: not a word and its numbers"),
        ("a 1 2\nb 1 nan\n", "line 2: not a word and its numbers"),
        ("a\n", "line 1: not a word and its numbers"),
        ("2 3\n", "no word vectors"),
        ("", "no word vectors"),
        ("a 1_0 2\n", "line 1: not a word and its numbers"),
        ("a 1 ٣\n", "line 1: not a word and its numbers"),
        ("a 1 2\nb inf 2\n", "line 2: not a word and its numbers"),
        ("a 1 2\nb 1e39 2\n", "line 2: not a word and its numbers"),
        ("a 1 2\nb\udcff 1 2\n", "line 2: not UTF-8"),
        ("3 2\na 1 2\nb 1 2\n", "2 word vectors where its first line says 3"),
        ("1 2\na 1 2\nb 1 2\n", "2 word vectors where its first line says 1"),
        ("1 3\na 1 2\n", "line 2: 2 numbers"),
        ("9" * 5000 + " 2\na 1 2\n", "line 2: 2 numbers"),
        ("a 1\nb " + "1 " * (1 << 20) + "\n", "line 2: more than 2097152 bytes"),
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
