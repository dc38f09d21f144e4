import hashlib
import json

import numpy as np
import pytest

from tests.unit.filter.conftest import arguments, pair, write_table
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairColumnsRow, PairValueRow
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.filter import paraphrase_score
from workflow_scripts.stages.filter.paraphrase_score import WordVectors, main
from workflow_scripts.testbed.generate import items

VECTORS = """4 2
the 0 0
dog 1 0
hound 1 1
cat 0 -2
"""
PAIRS = [
    ("The dog!", "the hound"),
    ("dog", "Cat"),
    ("A dog, a cat.", "dog dog cat cat"),
    ("zebra", "dog"),
    ("dog", "the"),
]


def scores(tmp_path, pairs, vectors, punctuation="dropped", **options):
    rows = [pair(f"c:{number}", 1, *texts) for number, texts in enumerate(pairs)]
    shard = write_table(tmp_path / "in" / "0000.parquet", PairColumnsRow, rows)
    output = tmp_path / "out" / "0000.parquet"
    config = {"punctuation": punctuation}
    main(arguments(config, pairs=shard, vectors=vectors, output=output, **options))
    return [row["value"] for row in read_rows(output, PairValueRow)]


def test_cosine_of_mean_vectors(tmp_path):
    (tmp_path / "vectors.txt").write_text(VECTORS, encoding="utf-8")
    found = scores(tmp_path, PAIRS, tmp_path / "vectors.txt")
    assert found[:3] == pytest.approx([np.sqrt(0.5), 0.0, 1.0])
    # No known word, and only one whose vector is zero: there is no score.
    assert found[3:] == [None, None]


def test_words_are_those_of_files_of_vectors_and_of_the_run(tmp_path):
    """A file has *don't*; marks of punctuation are words where the run counts them."""
    lines = "don't 1 0\ndont 9 9\ndogs 0 1\n, 3 0\n"
    (tmp_path / "vectors.txt").write_text(lines, encoding="utf-8")
    pairs = [("Don\u2019t!", "'don't'"), ("the dogs, don't", "don't dogs")]
    assert scores(tmp_path, pairs, tmp_path / "vectors.txt") == pytest.approx([1.0, 1.0])
    found = scores(tmp_path, pairs[1:], tmp_path / "vectors.txt", punctuation="tokens")
    # The comma and don't are 4 along the first axis, dogs is 1 along the second.
    assert found == pytest.approx([5 / np.sqrt(17 * 2)])


def test_the_vectors_may_get_other_rights_once_they_are_read(tmp_path, monkeypatch):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(VECTORS, encoding="utf-8")
    inputs = json.dumps({str(vectors): hashlib.sha256(vectors.read_bytes()).hexdigest()})

    def write_values(*given, **options):
        vectors.chmod(0o444)
        write(*given, **options)

    write = paraphrase_score.write_values
    monkeypatch.setattr(paraphrase_score, "write_values", write_values)
    assert scores(tmp_path, PAIRS, vectors, inputs=inputs)[3:] == [None, None]


def test_a_shard_with_none_of_the_words_gets_no_values(tmp_path, capsys):
    (tmp_path / "vectors.txt").write_text("OTHER 1 2\n", encoding="utf-8")
    assert scores(tmp_path, PAIRS, tmp_path / "vectors.txt") == [None] * len(PAIRS)
    assert "vectors.txt has none of the 6 words of" in capsys.readouterr().err


def test_a_shard_without_pairs_needs_no_vector(tmp_path):
    (tmp_path / "vectors.txt").write_text(VECTORS, encoding="utf-8")
    assert scores(tmp_path, [], tmp_path / "vectors.txt") == []


def test_bad_lines_are_counted_in_the_record_and_on_stderr(tmp_path, capsys):
    lines = VECTORS.removeprefix("4 2\n") + " 7 7\nowl 1\nram 1 x\n"
    (tmp_path / "vectors.txt").write_text(lines, encoding="utf-8")
    scores(tmp_path, PAIRS, tmp_path / "vectors.txt")
    record = json.loads((tmp_path / "out" / "0000.json").read_text(encoding="utf-8"))
    assert record["extra"]["vectors"] == {
        **{"read": 4, "known": 4, "words": 6},
        "rejected": {"dimension": 2, "not_numbers": 1},
    }
    assert "4 word vectors; left out: dimension 2, not_numbers 1" in capsys.readouterr().err


@pytest.fixture(params=["drawn", "real"])
def vector_file(request, tmp_path):
    """Vectors of 48 numbers for many words: drawn ones for testbed words, or real ones."""
    if request.param == "real":
        return request.getfixturevalue("data_dir") / "sample_vectors" / "sample_vec.txt"
    known = sorted({word for item in items(1, 0, 60) for word in words(item.reference)})
    numbers = np.random.default_rng(1).normal(size=(len(known), 48))
    lines = (" ".join([word, *map(str, row)]) for word, row in zip(known, numbers, strict=True))
    path = tmp_path / "drawn.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_cosines_are_those_of_the_vectors_in_the_file(vector_file, tmp_path):
    lines = [line.split() for line in vector_file.read_text(encoding="utf-8").splitlines()]
    known = {word: np.array(numbers, np.float32) for word, *numbers in lines}
    plain = [word for word in known if words(word) == [word]][:40]
    assert len(plain) == 40
    pairs = [
        (f"{plain[number]}, {plain[number + 1]}", f"{plain[number + 2]} unheard-of")
        for number in range(30)
    ]

    def cosine(first, second):
        one, other = (
            np.mean([known[word] for word in words(side) if word in known], axis=0)
            for side in (first, second)
        )
        return one @ other / np.linalg.norm(one) / np.linalg.norm(other)

    expected = [cosine(*each) for each in pairs]
    assert scores(tmp_path, pairs, vector_file) == pytest.approx(expected, abs=1e-5)


def test_only_wanted_words_are_kept():
    given = [(word, np.ones(2, np.float32)) for word in "abc"]
    assert WordVectors(given, {"a"}).sums(["a b", "a a c"]).tolist() == [[1, 1], [2, 2]]
