import math
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.inputs import arguments
from tests.tables import pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import DocumentFrequencyRow, PairRow
from workflow_scripts.stages.generate.constraint_words import between_blanks, plain_words, words_of
from workflow_scripts.stages.generate.idf import document_frequencies, main, read_idf
from workflow_scripts.stages.generate.tokenizer import splitter

WORDS = st.sampled_from(["a", "b", "c", "d", "e", "f"])
SENTENCES = st.lists(st.lists(WORDS).map(" ".join), max_size=30)


def test_plain_words_are_lower_case_and_alphabetic_and_counted_once():
    sentence = 'We told "her" that 7-Eleven pays her, Ann and the well-known café (told).'
    expected = ["told", "her", "that", "pays", "and", "the", "café"]
    assert plain_words(words_of(sentence)) == expected
    tokens = words_of(sentence, splitter("en"))
    assert plain_words(tokens) == [*expected[:-1], "well", "known", "café"]


@pytest.mark.slow
@given(references=SENTENCES, most=st.integers(1, 8))
def test_frequencies_do_not_depend_on_what_memory_holds(references, most):
    expected = Counter(word for each in references for word in set(each.split()))
    with tempfile.TemporaryDirectory() as folder:
        found = list(document_frequencies(references, between_blanks, Path(folder), most))
    assert found == sorted(expected.items())


def write_pairs(folder, shards):
    for number, rows in enumerate(shards):
        path = folder / f"{number:04d}.parquet"
        found = [pair(f"{corpus}:1", reference=reference) for corpus, reference in rows]
        write_table(path, PairRow, found)


def count(folder, corpora, shards=2):
    output = folder / "idf" / "idf.parquet"
    config = {"corpora": corpora, "language": "en"}
    main(arguments(config, folder=folder, shards=shards, output=output))
    return output


def test_only_training_references_are_counted(tmp_path):
    write_pairs(
        tmp_path,
        [[("a", "the dog, the cat's"), ("b", "the bird")], [("a", "a dog"), ("c", "a cat")]],
    )
    output = count(tmp_path, ["a", "c"])
    rows = [(row["word"], row["references"]) for row in read_rows(output, DocumentFrequencyRow)]
    assert rows == [("a", 2), ("cat", 2), ("dog", 2), ("the", 1)]
    record = read_record(output)
    assert (record["rows_in"], record["rows_out"], record["extra"]) == (4, 3, {"words": 4})
    assert record["rejected"] == {"corpus_not_used": 1}
    first = output.read_bytes()
    assert count(tmp_path, ["c", "a"]).read_bytes() == first
    with pytest.raises(InputError, match="no pair of"):
        count(tmp_path, ["d"])


def test_words_within_bounds_and_exempt_ones_can_be_chosen(tmp_path):
    # Of 32 references: "to" in all, "of" in 8, "told" in 4, "proud" in 1.
    references = [
        " ".join(
            word
            for word, every in (("to", 1), ("of", 4), ("told", 8), ("proud", 32))
            if number % every == 0
        )
        for number in range(32)
    ]
    write_pairs(tmp_path, [[("a", reference) for reference in references]])
    output = count(tmp_path, ["a"], shards=1)

    def found(**changes):
        config = {"bounds": [3.0, 17.0], "min_references": 1, "exempt": []} | changes
        return read_idf(output, config)

    assert found() == {"told": 3.0, "proud": 5.0}
    assert found(bounds=[2.0, 4.0]) == {"of": 2.0, "told": 3.0}
    assert found(min_references=4) == {"told": 3.0}
    assert found(exempt=["to", "from"]) == {"to": 0.0, "told": 3.0, "proud": math.log2(32)}
    assert found(exempt=["to", "proud"], bounds=[3.0, 4.0]) == {"to": 0.0, "told": 3.0}
