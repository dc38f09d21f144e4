from collections import Counter

import numpy as np
import pytest

from tests.unit.core.test_packed import PACK
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.vectors import read_vectors


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


def test_vectors_of_one_number_are_no_header(tmp_path):
    found = dict(read_vectors(written(tmp_path / "v", "a 1\nb 2\n")))
    assert list(found) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a 1 2\nb 1\nc 3 4\n", "dimension"),
        ("b 1\na 1 2\nc 3 4\n", "dimension"),
        ("b 1 2 3\na 1 2\nc 3 4\n", "dimension"),
        ("a 1 2\n 1 2\nc 3 4\n", "dimension"),  # a blank stands where the word should
        (". . 1 2\na 1 2\nc 3 4\n", "dimension"),  # a word with a blank in it
        ("a 1 2\n\nc 3 4\n", "dimension"),
        ("a 1 2\nb 1 x\nc 3 4\n", "not_numbers"),
        ("a 1 2\nb 1 nan\nc 3 4\n", "not_numbers"),
        ("a 1 2\nb inf 2\nc 3 4\n", "not_numbers"),
        ("a 1 2\nb 1e39 2\nc 3 4\n", "not_numbers"),
        ("a 1 2\nb 1_0 2\nc 3 4\n", "not_numbers"),
        ("a 1 2\nb 1 ٣\nc 3 4\n", "not_numbers"),
        ("a 1 2\nb  1 2\nc 3 4\n", "dimension"),
        ("a 1 2\nb\udcff 1 2\nc 3 4\n", "not_utf8"),
        ("b\udcff 1 2\na 1 2\nc 3 4\n", "not_utf8"),
        ("9" * 5000 + " 2\na 1 2\nc 3 4\n", "dimension"),
        ("a 1 2\na 8 9\nc 3 4\n", "repeated"),
        ("a 1 2\nb " + "1 " * (1 << 20) + "\nc 3 4\n", "too_long"),
    ],
)
@pytest.mark.parametrize("header", ["", "3 2\n"], ids=["glove", "word2vec"])
def test_a_bad_line_is_counted_and_never_the_end(tmp_path, text, reason, header):
    rejected = Counter()
    found = dict(read_vectors(written(tmp_path / "vectors.txt", header + text), rejected))
    assert {word: vector.tolist() for word, vector in found.items()} == {"a": [1, 2], "c": [3, 4]}
    assert rejected == {reason: 1}


def test_the_faults_of_paragram_cost_their_lines_alone(tmp_path):
    """Words that are not UTF-8, lines that begin with a blank, among 200 good ones."""
    good = [b"w%d %d 0.5 -1" % (number, number) for number in range(200)]
    bad = [b"caf\xe9 1 2 3", b" 0.1 0.2 0.3", b"\xff\xfe 1 2 3"]
    leading = [b" led 7 8 9"]
    path = tmp_path / "paragram.txt"
    path.write_bytes(b"\n".join([bad[0], *good[:100], *bad[1:], *leading, *good[100:], b""]))
    rejected = Counter()
    found = dict(read_vectors(path, rejected))
    assert len(found) == 201
    assert found["led"].tolist() == [7, 8, 9]
    assert found["w199"].tolist() == [199, 0.5, -1]
    assert rejected == {"not_utf8": 2, "dimension": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n", "no word vectors .*not_numbers 1"),
        ("a 1_0 2\nb x 2\n", "no word vectors .*not_numbers 2"),
        ("2 3\n", "no word vectors"),
        ("", "no word vectors"),
        ("1 3\na 1 2\n", "no word vectors .*dimension 1"),
        ("3 2\na 1 2\nb 1 2\n", "2 word vectors where its first line says 3"),
        ("1 2\na 1 2\nb 1 2\n", "2 word vectors where its first line says 1"),
        ("3 2\na 1 2\nb 1\n", "2 word vectors where its first line says 3"),
    ],
)
def test_files_without_a_vector_or_cut_off_are_errors(tmp_path, text, expected):
    path = written(tmp_path / "vectors.txt", text)
    with pytest.raises(InputError, match=expected) as error:
        list(read_vectors(path))
    assert str(path) in str(error.value)


def binary(entries, words=None, end=b"\n"):
    """A binary file of word2vec, as its own program writes it."""
    size = len(entries[0][1])
    parts = [b"%d %d\n" % (len(entries) if words is None else words, size)]
    for word, numbers in entries:
        parts.append(word + b" " + np.array(numbers, "<f4").tobytes() + end)
    return b"".join(parts)


ENTRIES = [(b"dog", [1, 2.5, -3]), (b"caf\xc3\xa9", [0, 0, 1e-3]), (b"cat", [4, 5, 0.25])]


@pytest.mark.parametrize("end", [b"\n", b""], ids=["word2vec", "gensim"])
@pytest.mark.parametrize("suffix", [".bin", *PACK])
def test_binary_files_of_word2vec_are_told_by_their_content(tmp_path, end, suffix):
    path = tmp_path / f"vectors{suffix}"
    path.write_bytes(PACK.get(suffix, bytes)(binary(ENTRIES, end=end)))
    found = dict(read_vectors(path))
    assert list(found) == ["dog", "café", "cat"]
    assert found["dog"].dtype == np.float32
    assert found["cat"].tolist() == [4, 5, 0.25]


def test_bad_entries_of_a_binary_file_are_counted(tmp_path):
    more = [(b"\xff", [1, 2, 3]), (b"endless", [1, np.inf, 0]), (b"dog", [9, 9, 9])]
    (tmp_path / "v.bin").write_bytes(binary([*more[:2], *ENTRIES, more[2]]))
    rejected = Counter()
    found = dict(read_vectors(tmp_path / "v.bin", rejected))
    assert list(found) == ["dog", "café", "cat"]
    assert found["dog"].tolist() == [1, 2.5, -3]
    assert rejected == {"not_utf8": 1, "not_numbers": 1, "repeated": 1}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (binary(ENTRIES)[:-5], "ends or goes wrong at word 3 of the 3"),
        (binary(ENTRIES, words=4), "ends or goes wrong at word 4 of the 4"),
        (binary(ENTRIES, words=2), "goes on after the 2 words"),
        (b"2 3\n" + b"\x00" * 9000, "ends or goes wrong at word 1 of the 2"),
        (b"2 999999\na \x00\x00", "999999 numbers for each word; 1 to 100,000"),
        (binary([(b"\xff", [1, 2, 3])]), "no word vectors .*not_utf8 1"),
    ],
)
def test_damaged_binary_files_are_errors(tmp_path, content, expected):
    (tmp_path / "v.bin").write_bytes(content)
    with pytest.raises(InputError, match=expected):
        list(read_vectors(tmp_path / "v.bin"))


@pytest.mark.parametrize("kind", ["text", "binary"])
@pytest.mark.parametrize("suffix", PACK)
def test_packed_files_are_read_whole_or_refused(tmp_path, suffix, kind):
    path = tmp_path / f"vectors{suffix}"
    entries = [(b"w%d" % number, [number, 0, 1]) for number in range(1000)]
    text = b"".join(b"%s %d %d %d\n" % (word, *numbers) for word, numbers in entries)
    packed = PACK[suffix](text if kind == "text" else binary(entries))
    path.write_bytes(packed)
    assert len(list(read_vectors(path))) == 1000
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 4
    for damaged in (packed[:-9], packed[: len(packed) // 2], bytes(flipped), packed + b"text"):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=rf"vectors\{suffix}: can't be read"):
            list(read_vectors(path))


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
