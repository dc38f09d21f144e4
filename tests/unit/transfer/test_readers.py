import pytest

from tests.unit.transfer.conftest import MRPC_HEADER, SICK_HEADER, write
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.transfer.senteval_readers import Row, read_task, repetitions
from workflow_scripts.stages.transfer.tasks import TASKS, chosen, found, missing


def read(root, name):
    return read_task(TASKS[name], found([root])[name])


def test_all_ten_tasks_are_found_and_have_their_parts(senteval):
    files = found([senteval])
    assert list(files) == list(TASKS)
    assert missing(files) == []
    for name, task in TASKS.items():
        data = read_task(task, files[name])
        assert list(data.parts) == list(task.files)
        assert all((row.second is not None) == task.pairs for row in data.tested)
        assert {row.label for row in data.tested} <= (
            set(range(task.classes)) if name != "SICK-R" else {1 + n / 2 for n in range(9)}
        )


def test_the_folder_above_downstream_will_do(senteval, tmp_path):
    (tmp_path / "data").mkdir()
    senteval.rename(tmp_path / "data/downstream")
    assert list(found([tmp_path / "data"])) == list(TASKS)


def test_rows_stand_as_in_senteval_by_tokens_then_by_class(tmp_path):
    write(tmp_path / "CR/custrev.pos", "good one here\ngood\nfine\n")
    write(tmp_path / "CR/custrev.neg", "bad\nbad  one\there\n")
    rows = read(tmp_path, "CR").tested
    assert rows == [
        Row(0.0, "bad"),
        Row(1.0, "good"),
        Row(1.0, "fine"),
        Row(0.0, "bad one here"),
        Row(1.0, "good one here"),
    ]


def test_pairs_stand_by_both_lengths_then_by_grade(tmp_path):
    lines = "1\ta b\tc\t2\tNEUTRAL\n2\ta\tb c\t5\tENTAILMENT\n3\ta\tb\t4.5\tENTAILMENT\n"
    lines += "4\ta\tc\t1\tCONTRADICTION\n"
    for name in ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"):
        write(tmp_path / "SICK" / name, SICK_HEADER + lines)

    def found(task):
        return [(row.label, row.second) for row in read(tmp_path, task).tested]

    assert found("SICK-R") == [(1.0, "c"), (4.5, "b"), (5.0, "b c"), (2.0, "c")]
    # SentEval sorts by the class here, and so the order is another one.
    assert found("SICK-E") == [(0.0, "c"), (2.0, "b"), (2.0, "b c"), (1.0, "c")]


def test_an_empty_line_is_a_sentence_without_words(tmp_path):
    write(tmp_path / "MPQA/mpqa.pos", "good\n\nfine\n")
    write(tmp_path / "MPQA/mpqa.neg", "bad\n")
    assert Row(1.0, "") in read(tmp_path, "MPQA").tested


def test_questions_lose_their_subclass(tmp_path):
    for name in ("train_5500.label", "TREC_10.label"):
        write(tmp_path / "TREC" / name, "NUM:count How many ?\nHUM:ind Who ?\n")
    assert read(tmp_path, "TREC").parts["train"] == [Row(3.0, "Who ?"), Row(5.0, "How many ?")]


@pytest.mark.parametrize("name", ["TREC/train_5500.label", "MR/rt-polarity.neg"])
def test_what_senteval_reads_as_latin1_may_be_latin1_and_is_told(senteval, name):
    path = senteval / name
    path.write_bytes(path.read_bytes() + b"HUM:ind Who is Jos\xe9 ?\n")
    data = read(senteval, name.split("/")[0])
    assert data.latin1 == [path.name]
    rows = [row for part in data.parts.values() for row in part]
    assert any("José" in row.first for row in rows)


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("SST/binary/sentiment-dev", "no class\n", "1 columns where 2 belong"),
        ("SST/binary/sentiment-dev", "one\t1\tmore\n", "3 columns where 2 belong"),
        ("SST/binary/sentiment-dev", "a film\t2\n", "'2' is no class; it must be 0 to 1"),
        ("SST/fine/sentiment-dev", "5 a film\n", "'5' is no class; it must be 0 to 4"),
        ("SST/fine/sentiment-dev", "-1 a film\n", "'-1' is no class"),
        ("SST/fine/sentiment-dev", "a film\n", "'a' is no class"),
        ("SST/fine/sentiment-dev", "3 \n", "no sentence after the class"),
        ("TREC/TREC_10.label", "DESC:manner \n", "no sentence after the class"),
        ("TREC/TREC_10.label", "What is it ?\n", "does not begin with a class and a colon"),
        ("TREC/TREC_10.label", "FOO:bar What ?\n", "the classes are ABBR"),
        ("MRPC/msr_paraphrase_test.txt", "1\t2\t3\tone\n", "4 columns where 5 belong"),
        ("MRPC/msr_paraphrase_test.txt", "7\t2\t3\tone\ttwo\n", "'7' is no class"),
        ("SICK/SICK_trial.txt", "1\ta\tb\t9\tNEUTRAL\n", "grade 9; it must be 1 to 5"),
        ("SICK/SICK_trial.txt", "1\ta\tb\tnan\tNEUTRAL\n", "'nan' is no grade"),
        ("SICK/SICK_trial.txt", "1\ta\tb\t3\tMAYBE\n", "'MAYBE' is no judgment"),
        ("SICK/SICK_trial.txt", "1\ta\tb\t3\n", "4 columns where at least 5 belong"),
        # Other files than SentEval reads as Latin-1.
        ("SST/fine/sentiment-test", "1 caf\udce9\n", "UTF-8"),
        ("SICK/SICK_train.txt", "1 caf\udce9\n", "UTF-8"),
    ],
)
def test_a_wrong_line_is_named(senteval, name, line, message):
    path = senteval / name
    lines = path.read_bytes() + line.encode("utf-8", "surrogateescape")
    path.write_bytes(lines)
    number = lines.count(b"\n")
    with pytest.raises(InputError, match=f"{path.name}, line {number}: ") as error:
        for task in ("SST2", "SST5", "TREC", "MRPC", "SICK-R", "SICK-E"):
            read(senteval, task)
    assert message in str(error.value)


def test_utf16_is_not_taken_for_latin1(senteval):
    path = senteval / "CR/custrev.pos"
    path.write_bytes(path.read_text("utf-8").encode("utf-16"))
    with pytest.raises(InputError, match=r"custrev\.pos, line 1: NUL, .* convert the file"):
        read(senteval, "CR")


def test_wrong_headers_are_refused(senteval):
    write(senteval / "SICK/SICK_train.txt", "a\tb\tc\td\te\n1\ta\tb\t3\tNEUTRAL\n")
    with pytest.raises(InputError, match="first line does not name the columns pair_ID"):
        read(senteval, "SICK-R")
    path = senteval / "MRPC/msr_paraphrase_train.txt"
    path.write_text(path.read_text("utf-8").removeprefix(MRPC_HEADER), "utf-8")
    with pytest.raises(InputError, match="its first line is a pair"):
        read(senteval, "MRPC")


def test_a_part_without_rows_or_with_one_class_is_refused(senteval):
    write(senteval / "SST/fine/sentiment-dev", "")
    with pytest.raises(InputError, match="sentiment-dev: no row of SST5"):
        read(senteval, "SST5")
    write(senteval / "SST/fine/sentiment-dev", "1 a\n1 b\n")
    with pytest.raises(InputError, match="all rows of SST5 are of the class 1"):
        read(senteval, "SST5")
    rows = "1\ta\tb\t3.5\tNEUTRAL\n2\tc\td\t3.5\tENTAILMENT\n"
    write(senteval / "SICK/SICK_test_annotated.txt", SICK_HEADER + rows)
    with pytest.raises(InputError, match=r"all rows of SICK-R are of the grade 3\.5"):
        read(senteval, "SICK-R")
    assert len(read(senteval, "SICK-E").parts["test"]) == 2


def test_repeated_rows_stay_and_are_counted(tmp_path):
    write(tmp_path / "CR/custrev.pos", "Good one .\nfine\n")
    write(tmp_path / "CR/custrev.neg", "good one\ngood one !\nbad\n")
    data = read(tmp_path, "CR")
    assert len(data.tested) == 5
    assert repetitions(data) == {"repeated": 3, "contradictory": 3}


def test_repetitions_count_tested_rows_that_are_trained_on(tmp_path):
    parts = {"train": "1 a\n0 b\n", "dev": "1 c\n0 d\n", "test": "1 a\n1 b\n0 e\n"}
    for part, lines in parts.items():
        write(tmp_path / f"SST/fine/sentiment-{part}", lines)
    assert repetitions(read(tmp_path, "SST5")) == {"repeated": 2, "contradictory": 1}


def test_a_missing_task_that_is_asked_for_is_named_with_its_files(senteval):
    for path in (senteval / "MRPC").iterdir():
        path.unlink()
    assert missing(found([senteval])) == ["MRPC"]
    with pytest.raises(InputError, match=r"MRPC is in none of .*msr_paraphrase_train\.txt"):
        chosen([senteval], ["MR", "MRPC"])
    assert list(chosen([senteval], ["SICK-E", "MR"])) == ["MR", "SICK-E"]


def test_half_a_task_is_refused(senteval):
    (senteval / "TREC/TREC_10.label").unlink()
    with pytest.raises(InputError, match=r"TREC_10\.label: missing, and TREC has other files"):
        found([senteval])


def test_folders_must_exist_have_tasks_and_differ(senteval, tmp_path):
    with pytest.raises(InputError, match=r"transfer\.data: .*: no such folder"):
        found([tmp_path / "nothing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"transfer\.data: .*: no transfer task in it"):
        chosen([tmp_path / "empty"], None)
    write(tmp_path / "other/CR/custrev.pos", "a\n")
    write(tmp_path / "other/CR/custrev.neg", "b\n")
    with pytest.raises(InputError, match="both have CR"):
        found([senteval, tmp_path / "other"])
