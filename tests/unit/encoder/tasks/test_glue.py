"""Readers of tasks on pairs: what is read, what is counted, and what is refused."""

import pytest

from tests.unit.encoder.tasks.samples import (
    MNLI_HEADER,
    MRPC_HEADER,
    STSB_HEADER,
    qqp,
    sick,
    stsb_dev,
    write,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.encoder.tasks.examples import Pair
from workflow_scripts.stages.encoder.tasks.glue import read_pairs


def mrpc(folder, name, numbers):
    rows = [(n % 2, n, n + 100, f"first {n}", f"second {n}") for n in numbers]
    return write(folder, name, f"\ufeff{MRPC_HEADER}", rows)


def mnli_without_a_column(folder):
    for part in ("train", "dev_matched", "dev_mismatched"):
        write(folder, f"{part}.tsv", MNLI_HEADER, [(1, "g", "a", "b", "neutral")])


def firsts(pairs):
    return [pair.first for pair in pairs]


def test_qqp_counts_broken_rows_and_goes_on(tmp_path):
    path = qqp(tmp_path, [(f"a {n}", "b", n % 2) for n in range(300)])
    lines = path.read_text().splitlines(keepends=True)
    lines[5] = lines[5].replace("a 4", "a\n4")  # a question with a line feed: two broken rows
    path.write_text("".join(lines))
    qqp(tmp_path, part="dev")
    data = read_pairs("QQP", tmp_path)
    assert len(data.train) == 299
    counts = {"examples": 299, "duplicates": 0, "in_train": 0, "broken": 2}
    assert data.counts["train"] == counts
    assert data.counts["dev"]["broken"] == 0
    assert data.tested["dev"] == [Pair("a", "b", 1.0), Pair("c", "d", 0.0)]
    assert not data.in_folds and not data.development


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("train", "7\t8\n", "1 of 21 lines do not have 6 fields"),
        ("train", "7\t1\t2\ta\tb\t2\n", r"train.tsv, line 22: '2' is no label; labels are 0, 1"),
        ("train", "7\t1\t2\ta\tb\t\n", r"train.tsv, line 22: '' is no label; labels are 0, 1"),
        ("train", "7\t1\t2\ta\tb\tyes\n", "train.tsv, line 22: 'yes' is no label; labels are 0"),
        ("train", "7\t1\t2\tcaf\udce9\tb\t1\n", "line 22 is not UTF-8"),
        ("dev", "id\tqid\n", r"dev.tsv, line 1: the header is not id qid1"),
    ],
)
def test_a_file_of_qqp_that_is_broken_all_over_is_refused(tmp_path, part, text, message):
    train = qqp(tmp_path, [(f"a {n}", "b", 1) for n in range(20)]).read_bytes()
    qqp(tmp_path, part="dev")
    before = train if part == "train" else b""
    (tmp_path / f"{part}.tsv").write_bytes(before + text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=message):
        read_pairs("QQP", tmp_path)


def test_quotes_are_characters_like_others(tmp_path):
    """A reader that takes them for csv's would swallow the line feed and the next row."""
    texts = [('"a', "b", 1), ('c"', 'say "d"', 0)]
    qqp(tmp_path, texts)
    qqp(tmp_path, texts, "dev")
    assert read_pairs("QQP", tmp_path).train == [Pair(*row[:2], float(row[2])) for row in texts]


def test_duplicates_and_examples_that_were_learnt_are_kept_and_counted(tmp_path):
    qqp(tmp_path, [("a", "b", 1), ("a", "b", 1), ("c", "d", 0)])
    qqp(tmp_path, [("c", "d", 0), ("d", "c", 0)], "dev")
    data = read_pairs("QQP", tmp_path)
    assert (len(data.train), data.counts["train"]["duplicates"]) == (3, 1)
    assert (len(data.tested["dev"]), data.counts["dev"]["in_train"]) == (2, 1)


def test_mnli_has_two_parts_and_counts_pairs_without_a_majority(tmp_path):
    labels = ("entailment", "-", "neutral", "contradiction")
    for number, part in enumerate(("train", "dev_matched", "dev_mismatched")):
        rows = [
            (n, "g", f"{part} {n}", f"b {n}", "neutral", label) for n, label in enumerate(labels)
        ]
        write(tmp_path, f"{part}.tsv", MNLI_HEADER, rows[: 4 - number])
    data = read_pairs("MNLI", tmp_path)
    assert [pair.gold for pair in data.train] == [2.0, 1.0, 0.0]
    counts = {part: len(pairs) for part, pairs in data.tested.items()}
    assert counts == {"matched": 2, "mismatched": 1}
    assert data.counts["matched"]["without_label"] == 1


def test_mrpc_of_glue(tmp_path):
    mrpc(tmp_path, "train.tsv", range(4))
    mrpc(tmp_path, "dev.tsv", range(4, 7))
    data = read_pairs("MRPC", tmp_path)
    assert data.train[1] == Pair("first 1", "second 1", 1.0)
    assert firsts(data.tested["dev"]) == ["first 4", "first 5", "first 6"]


def test_mrpc_of_microsoft_is_parted_by_the_ids_of_glue_or_tested_on_its_test_part(tmp_path):
    mrpc(tmp_path, "msr_paraphrase_train.txt", range(4))
    mrpc(tmp_path, "msr_paraphrase_test.txt", range(4, 6))
    assert firsts(read_pairs("MRPC", tmp_path).tested["test"]) == ["first 4", "first 5"]
    write(tmp_path, "dev_ids.tsv", None, [(1, 101), (3, 103)])
    data = read_pairs("MRPC", tmp_path)
    assert firsts(data.train) == ["first 0", "first 2"]
    assert firsts(data.tested["dev"]) == ["first 1", "first 3"]


def test_ids_of_another_corpus_are_refused(tmp_path):
    mrpc(tmp_path, "msr_paraphrase_train.txt", range(4))
    write(tmp_path, "dev_ids.tsv", None, [(1, 101), (9, 103)])
    with pytest.raises(InputError, match="the pair 9 103 is not in"):
        read_pairs("MRPC", tmp_path)


def test_stsb_of_glue_and_of_its_authors_are_the_same(tmp_path):
    rows = [(0, "g", "a", "b", 2.5), (1, "g", "c", 'd "', 5)]
    for part in ("train", "dev"):
        write(tmp_path / "glue", f"{part}.tsv", STSB_HEADER, rows)
        original = [("g", "f", 2015, n, score, *texts) for n, _, *texts, score in rows]
        original[1] += ("source", "source")
        write(tmp_path / "own", f"sts-{part}.csv", None, original)
    glue, own = (read_pairs("STS-B", tmp_path / name) for name in ("glue", "own"))
    assert glue.train == own.train == [Pair("a", "b", 2.5), Pair("c", 'd "', 5.0)]
    assert glue.tested == own.tested
    assert not own.in_folds


def test_the_development_part_of_stsb_alone_is_tested_in_folds(tmp_path):
    stsb_dev(tmp_path)
    data = read_pairs("STS-B", tmp_path)
    assert data.in_folds
    assert data.counts["dev"]["in_train"] == 0


@pytest.mark.parametrize("score", ["5.1", "-1", "nan", "five"])
def test_a_score_outside_0_to_5_is_refused(tmp_path, score):
    for part in ("train", "dev"):
        write(tmp_path / "glue", f"{part}.tsv", STSB_HEADER, [(0, "g", "a", "b", score)])
    write(tmp_path / "own", "sts-dev.csv", None, [("g", "f", 2015, 1, score, "a", "b")])
    for name in ("glue", "own"):
        with pytest.raises(InputError, match=r"score|number"):
            read_pairs("STS-B", tmp_path / name)


def test_sick_has_a_part_to_choose_on(tmp_path):
    sick(tmp_path, 6)
    data = read_pairs("SICK-E", tmp_path)
    assert [pair.gold for pair in data.train[:3]] == [1.0, 2.0, 0.0]
    assert firsts(data.development)[0] == "the cat 1 0"
    assert firsts(data.tested["test"])[0] == "the cat 2 0"


@pytest.mark.parametrize(
    ("task", "write", "message"),
    [
        ("MRPC", lambda folder: None, r"MRPC: .* does not hold .* train.tsv and dev.tsv, or ms"),
        ("SICK-E", lambda folder: sick(folder, 0), "no example in it"),
        ("MNLI", mnli_without_a_column, "line 2 has 5 fields, the header 6"),
    ],
)
def test_files_that_are_missing_empty_or_of_other_columns_are_refused(
    tmp_path, task, write, message
):
    write(tmp_path)
    with pytest.raises(InputError, match=message):
        read_pairs(task, tmp_path)
