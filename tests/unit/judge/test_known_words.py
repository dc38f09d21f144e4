import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import read_record, write_record
from workflow_scripts.core.tables import TableWriter
from workflow_scripts.core.tokens import known_words
from workflow_scripts.generate import idf
from workflow_scripts.judge.known_words import main, read_words

REFERENCES = ["Tom didn't come, did he?", "She came in 1999.", "Tom came."]


@pytest.fixture
def words(tmp_path):
    for number in range(2):
        path = tmp_path / f"{number:04d}.parquet"
        with TableWriter(path, "pairs") as writer:
            for line, text in enumerate(REFERENCES[number::2]):
                row = {"id": f"c:{number}{line}", "source": "z", "reference": text, "corpus": "c"}
                writer.write(row)
        write_record(path, 2 - number, 2 - number, {})
    output = tmp_path / "out" / "words.parquet"
    main(["--folder", str(tmp_path), "--shards", "2", "--output", str(output)])
    return output


def test_the_words_are_those_of_the_features(words):
    assert read_words(words) == known_words(REFERENCES)
    record = read_record(words)
    assert (record["rows_in"], record["rows_out"]) == (3, 3)
    assert record["extra"] == {"words": len(known_words(REFERENCES))}


def test_a_damaged_file_is_refused(words):
    words.write_bytes(words.read_bytes() + b"x")
    with pytest.raises(InputError, match="differs from what its stage wrote"):
        read_words(words)


def test_the_vocabulary_may_be_larger_than_memory(words, tmp_path):
    counted = idf.document_frequencies(REFERENCES, tmp_path, 2, lambda text: known_words([text]))
    found = dict(counted)
    assert set(found) == known_words(REFERENCES)
    assert (found["Tom"], found["came"], found["t"]) == (2, 2, 1)
