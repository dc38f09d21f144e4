"""A whole lexicon from hand-made pairs: its rows, its files, and what reads them."""

import gzip
import math

import pyarrow.parquet as pq
import pytest
import zstandard

from tests.unit.lexicon.conftest import PAIRS, make, write_pairs
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.section import sections
from workflow_scripts.stages.generate.ppdb import read_paraphrases
from workflow_scripts.stages.lexicon.report import lexicons_table

FILES = ("lexicon.parquet", "lexicon.tsv.zst", "ppdb.gz")


def rows_of(folder):
    return pq.read_table(folder / "lexicon.parquet").to_pylist()


def entry(rows, phrase, paraphrase):
    (row,) = [row for row in rows if (row["phrase"], row["paraphrase"]) == (phrase, paraphrase)]
    return row


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def test_rows_of_known_pairs(pairs_file, tmp_path):
    rows = rows_of(make(tmp_path, [pairs_file]))
    pairs = {frozenset((row["phrase"], row["paraphrase"])) for row in rows}
    # Phrases with a word in common at an end, as "big dog" and "large dog", are left out.
    assert pairs == set(map(frozenset, [("big", "large"), ("gave up", "quit"), ("gave", "quit")]))
    one, other = entry(rows, "big", "large"), entry(rows, "large", "big")
    # "big" is aligned with "large" in three pairs, and in one with itself, in both sentences.
    assert (one["count"], other["count"]) == (3, 3)
    assert one["p_paraphrase"] == other["p_phrase"] == pytest.approx(3 / 5)
    assert one["p_phrase"] == other["p_paraphrase"] == 1
    assert one["score"] == other["score"]
    phrase = entry(rows, "gave up", "quit")
    assert phrase["count"] == 2 and phrase["pmi_cross"] is None
    assert all(row["tag"] is None for row in rows)
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_what_is_left_out_is_counted(pairs_file, tmp_path):
    make(tmp_path, [pairs_file])
    for name in ("words/words.parquet", "counts/0000.parquet"):
        record = read_record(tmp_path / name)
        assert record["rows_in"] == len(PAIRS)
        assert record["rejected"] == {"too_long": 1}


@pytest.mark.slow
@pytest.mark.parametrize(("shards", "rows"), [(1, 7), (3, 1 << 20), (12, 11)])
def test_shards_and_memory_make_no_difference(pairs_file, tmp_path, shards, rows):
    wanted = contents(make(tmp_path / "one", [pairs_file]))
    assert contents(make(tmp_path / "other", [pairs_file], shards, rows)) == wanted


@pytest.mark.slow
def test_several_training_sets_are_one_text(tmp_path):
    whole = write_pairs(tmp_path / "whole" / "pairs.parquet", PAIRS)
    parts = [
        write_pairs(tmp_path / name / "pairs.parquet", some)
        for name, some in (("a", PAIRS[:3]), ("b", PAIRS[3:]))
    ]
    wanted = contents(make(tmp_path / "one", [whole]))
    assert contents(make(tmp_path / "two", parts, 2)) == wanted


def test_the_next_run_reads_it_as_ppdb(pairs_file, tmp_path):
    lexicon = make(tmp_path, [pairs_file])
    rules = read_paraphrases("ppdb", lexicon / "ppdb.gz", {"big", "large"})
    assert rules.of("big", ["Equivalence"]) == ["large"]
    # A tagger of that run keeps rows without a part of speech.
    assert rules.of("large", ["Equivalence"], frozenset({"ADJ"})) == ["big"]
    line = gzip.decompress((lexicon / "ppdb.gz").read_bytes()).decode().splitlines()[0]
    category, phrase, paraphrase, features, _, relation = line.split(" ||| ")
    best = rows_of(lexicon)[0]
    assert (category, phrase, paraphrase) == ("[X]", best["phrase"], best["paraphrase"])
    assert relation == "Equivalence"
    values = dict(feature.split("=") for feature in features.split())
    assert float(values["PPDB2.0Score"]) == pytest.approx(best["score"], rel=1e-5)
    for name, column in (("p(e|f)", "p_paraphrase"), ("p(f|e)", "p_phrase")):
        assert float(values[name]) == pytest.approx(-math.log(best[column]), rel=1e-5)


def test_the_tsv_has_the_rows_of_the_table(pairs_file, tmp_path):
    lexicon = make(tmp_path, [pairs_file])
    packed = (lexicon / "lexicon.tsv.zst").read_bytes()
    text = zstandard.ZstdDecompressor().stream_reader(packed).read().decode()
    header, *lines = text.splitlines()
    rows = rows_of(lexicon)
    assert header.split("\t") == list(rows[0])
    for line, row in zip(lines, rows, strict=True):
        for field, value in zip(line.split("\t"), row.values(), strict=True):
            if value is None:
                assert field == ""
            elif isinstance(value, str):
                assert field == value
            else:
                assert float(field) == pytest.approx(value, rel=1e-5)


@pytest.mark.slow
def test_words_alone_and_rare_entries(pairs_file, tmp_path):
    rows = rows_of(make(tmp_path / "words", [pairs_file], max_words=1))
    assert all(" " not in row["phrase"] for row in rows)
    with pytest.raises(InputError, match="lower min_count"):
        make(tmp_path / "many", [pairs_file], min_count=9)


@pytest.mark.slow
def test_a_word_that_no_reference_has_is_no_entry(tmp_path):
    # "large" stands in a reference of its own; no reference has "quit".
    pairs = [*PAIRS, ("A large bird.", "A large bird.")]
    path = write_pairs(tmp_path / "set" / "pairs.parquet", pairs)
    rows = rows_of(make(tmp_path / "some", [path], attested=True))
    assert {row["phrase"] for row in rows} == {"big", "large"}
    assert read_record(tmp_path / "some" / "lexicon" / "lexicon.parquet")["extra"] == {
        **{"rows": 2, "phrases": 2, "unattested": 2}
    }
    every = rows_of(make(tmp_path / "every", [path]))
    assert [row for row in every if row["phrase"] in ("big", "large")] == rows
    assert {row["phrase"] for row in every} == {"big", "large", "gave up", "gave", "quit"}


EQUAL = [("A dog sleeps.", "A dog sleeps."), ("", "A cat."), ("3 !", "")]


@pytest.mark.parametrize(
    ("pairs", "settings", "message"),
    [
        (PAIRS, {"attested": True}, "a word that no reference has; set attested"),
        (EQUAL, {"min_count": 1}, "no two different phrases are aligned"),
        (PAIRS, {"max_tokens": 1}, "raise max_tokens"),
    ],
    ids=["strange words", "equal sentences", "too long"],
)
def test_pairs_without_an_entry_are_an_error(tmp_path, pairs, settings, message):
    path = write_pairs(tmp_path / "set" / "pairs.parquet", pairs)
    with pytest.raises(InputError, match=message):
        make(tmp_path, [path], **settings)


def test_the_report_has_the_best_entries(pairs_file, tmp_path):
    make(tmp_path, [pairs_file])
    units = [("plain-words", "words"), ("plain-counts", "counts"), ("plain", "lexicon")]
    run = FinishedRun({}, [(("lexicon", name), tmp_path / folder) for name, folder in units])
    (section,) = sections(["workflow_scripts.stages.lexicon.report:lexicons"], run)
    assert "<td>large</td>" in section.html or "<td>big</td>" in section.html
    (row,) = lexicons_table(run).frame().to_dict("records")
    assert (row["lexicon"], row["pairs"], row["left_out"]) == ("plain", 7, 1)
    assert row["rows"] == len(rows_of(tmp_path / "lexicon"))
    assert sections(["workflow_scripts.stages.lexicon.report:lexicons"], FinishedRun({}, [])) == []
