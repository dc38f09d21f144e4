"""The subcommands on text: what they read and write, as a stream, and what they refuse."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import termios
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom.answers import Paraphrase, Paraphrases
from paraloom.commands import main
from paraloom.text_commands import PRECISIONS
from tests.packages import STUDENTS, require_packages
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
            bound = [] if request.at_least is None else [str(request.at_least)]
            wishes = "|".join([*request.keep, "-", *request.avoid, *bound])
            unknown = [word for word in request.text.split() if not word.isascii()]
            why = wishes if len(wishes) > 1 else None
            yield Paraphrases(request.text, found, why, unknown)


@pytest.fixture
def call(monkeypatch, capfd, tmp_path):
    """Start `paraloom paraphrase` or another one; return its status, output and messages."""
    monkeypatch.setitem(sys.modules, "paraloom.paraphraser", SimpleNamespace(Paraphraser=Shouting))
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.chdir(tmp_path)

    def run(*words, subcommand="paraphrase"):
        with pytest.raises(SystemExit) as end:
            main([subcommand, *words])
        output, messages = capfd.readouterr()
        return end.value.code or 0, output, messages

    return run


@pytest.fixture
def standard_input(call, tmp_path):
    """Say what the standard input is."""
    kept = os.dup(0)

    def say(content):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "standard").write_bytes(data)
        stream = os.open(tmp_path / "standard", os.O_RDONLY)
        os.dup2(stream, 0)
        os.close(stream)

    yield say
    os.dup2(kept, 0)
    os.close(kept)


ROWS = [
    {"id": "a", "text": "Hello, you.", "keep": ["you"], "avoid": ["a b", "c"], "n": 1},
    {"id": "b", "text": "Bye.", "at_least": 0.5, "source": "Tchau."},
]


@pytest.fixture
def files(tmp_path):
    """The same two rows in each form, the plain text without all but the texts."""
    (tmp_path / "rows.txt").write_text("Hello, you.\r\nBye.\n", encoding="utf-8")
    lines = ["id\ttext\tkeep\tavoid\tn\tat_least\tsource"]
    lines += ["a\tHello, you.\tyou\ta b|c\t1\t\t", "b\tBye.\t\t\t\t.5\tTchau."]
    (tmp_path / "rows.tsv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    lines = [json.dumps(row) for row in ROWS]
    (tmp_path / "rows.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")
    pq.write_table(
        pa.Table.from_pylist([{**ROWS[0], "at_least": None, "source": None}, ROWS[1]]),
        "rows.parquet",
    )


@pytest.fixture(autouse=True)
def at_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# --- what is read and written ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["rows.tsv", "rows.jsonl", "rows.parquet"])
def test_tables_say_what_each_text_wishes(call, files, name):
    status, output, _ = call(name, "-n", "2", "--keep", "all", "--at-least", "0", "--to", "jsonl")
    assert status == 0
    first, second = map(json.loads, output.splitlines())
    shared = {"probability": 0.5, "score": 1.25}
    hello = [{"text": "HELLO, YOU.!", **shared, "source": None}]
    assert first == {**ROWS[0], "paraphrases": hello, "why": "you|all|-|a b|c|0.0"}
    byes = [{"text": each, **shared, "source": "Tchau."} for each in ("BYE.!", "BYE.!!")]
    assert second == {**ROWS[1], "paraphrases": byes, "why": "all|-|0.5"}


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


def test_several_files_follow_each_other(call, files, tmp_path):
    (tmp_path / "more.txt").write_text("More.\n", encoding="utf-8")
    assert call("rows.txt", "more.txt", "-n", "1")[1] == "HELLO, YOU.!\nBYE.!\nMORE.!\n"


def test_who_has_no_answer_is_told(call, tmp_path):
    (tmp_path / "a.txt").write_text("One.\n\nTwo.\n", encoding="utf-8")
    status, output, messages = call("a.txt", "-n", "1")
    assert (status, output) == (0, "ONE.!\n\nTWO.!\n")
    told = ["a.txt, line 2: empty: there is no sentence", "1 of 3 texts have no answer"]
    assert messages.splitlines() == told


def test_words_that_no_answer_can_say_are_told(call, tmp_path):
    (tmp_path / "text.txt").write_text("Dr. 王\nBye.\n", encoding="utf-8")
    status, output, messages = call("text.txt", "-n", "1", "--to", "jsonl")
    told = "unknown: the model can't read 王"
    assert (status, messages) == (0, f"text.txt, line 1: {told}\n")
    assert [json.loads(line)["why"] for line in output.splitlines()] == [told, None]


def test_an_empty_line_of_the_only_column_is_a_row(call, tmp_path):
    (tmp_path / "a.tsv").write_text("text\nOne.\n\nTwo.\n", encoding="utf-8")
    status, output, messages = call("a.tsv", "-n", "1")
    assert (status, output) == (0, "ONE.!\n\nTWO.!\n")
    assert "a.tsv, line 3: empty" in messages


def test_null_is_as_good_as_nothing(call, tmp_path):
    row = '{"text": "A.", "n": null, "keep": null, "source": null, "id": null}\n'
    (tmp_path / "a.jsonl").write_text(row, encoding="utf-8")
    status, output, _ = call("a.jsonl", "-n", "2", "--to", "jsonl")
    answer = json.loads(output)
    assert (status, len(answer["paraphrases"]), answer["id"]) == (0, 2, None)
    assert "keep" not in answer


def test_rows_of_which_one_may_have_several_answers_are_told_apart(call, tmp_path):
    (tmp_path / "a.tsv").write_text("text\tn\nA.\t\nB.\t2\n", encoding="utf-8")
    assert call("a.tsv", "-n", "1")[1] == "A.!\n\nB.!\nB.!!\n\n"
    (tmp_path / "a.jsonl").write_text('{"text": "A."}\n{"text": "B.", "n": 2}\n', encoding="utf-8")
    status, output, messages = call("a.jsonl", "-n", "1")
    assert (status, output) == (1, "A.!\n")
    assert "a.jsonl, line 2: n is not in the first row" in messages


def test_the_header_of_a_tsv_has_the_columns_of_all_files(call, tmp_path):
    """What the first row has not, or the first file, later ones may have."""
    (tmp_path / "a.tsv").write_text("text\tavoid\tid\nA.\t\t\nB.\tc\t7\n", encoding="utf-8")
    table = {"text": ["C."], "keep": pa.array([None], pa.list_(pa.string())), "more": [2]}
    pq.write_table(pa.table(table), tmp_path / "b.parquet")
    status, output, _ = call("a.tsv", "b.parquet", "-n", "1", "--to", "tsv")
    header, *lines = (line.split("\t") for line in output.splitlines())
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert status == 0
    assert [(row["avoid"], row["id"], row["more"]) for row in rows] == [
        ("", "", ""),
        ("c", "7", ""),
        ("", "", "2"),
    ]
    assert [row["paraphrase"] for row in rows] == ["A.!", "B.!", "C.!"]


@pytest.mark.parametrize(("content", "more"), [("", []), ("text\tid\n", ["id"])])
def test_a_tsv_without_rows_has_a_header(call, tmp_path, content, more):
    (tmp_path / "a.tsv").write_text(content, encoding="utf-8")
    names = [*more, "text", "rank", "paraphrase", "probability", "score", "source", "why"]
    assert call("a.tsv", "--to", "tsv") == (0, "\t".join(names) + "\n", "")


def test_half_of_a_surrogate_pair_is_written_as_json_escapes_it(call, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "A.", "id": "\\ud800"}\n', encoding="utf-8")
    status, output, _ = call("a.jsonl", "--to", "jsonl")
    assert (status, json.loads(output)["id"]) == (0, "\ud800")
    assert "\\ud800" in call("a.jsonl", "--to", "tsv")[1]


def test_values_of_parquet_are_repeated(call, tmp_path):
    date = datetime(2026, 11, 25, 7, 30, tzinfo=UTC)
    values = {"small": 1.23456789e-9, "price": Decimal("1.50"), "at": date, "day": [date.date()]}
    pq.write_table(pa.Table.from_pylist([{"text": "A.", **values}]), tmp_path / "a.parquet")
    answer = json.loads(call("a.parquet", "--to", "jsonl")[1])
    assert answer["small"] == 1.23456789e-9
    assert answer["price"] == "1.50"
    assert answer["at"] == "2026-11-25T07:30:00+00:00"
    assert answer["day"] == ["2026-11-25"]
    header, line, *_ = call("a.parquet", "--to", "tsv")[1].splitlines()
    cells = dict(zip(header.split("\t"), line.split("\t"), strict=True))
    assert float(cells["small"]) == 1.23456789e-9
    assert cells["at"] == "2026-11-25T07:30:00+00:00"


@pytest.mark.parametrize(
    ("names", "values", "said"),
    [
        (["text", "text"], ["A.", "B."], "a.parquet: the header has a column twice"),
        (["text", "data"], ["A.", b"\x00"], "a.parquet, row 1: the column data can't be repeated"),
        (["text"], [None], "a.parquet, row 1: text must be a text; it is null"),
    ],
)
def test_a_parquet_file_that_can_t_be_read_is_named(call, tmp_path, names, values, said):
    columns = [pa.array([value], pa.string() if value is None else None) for value in values]
    pq.write_table(pa.Table.from_arrays(columns, names), tmp_path / "a.parquet")
    status, _, messages = call("a.parquet")
    assert status == 1
    assert said in messages


def test_a_table_that_is_taken_for_sentences_is_refused(call, tmp_path, standard_input):
    for content, form in (('{"text": "A."}\n', "jsonl"), ("id\ttext\n7\tA.\n", "tsv")):
        standard_input(content)
        status, output, messages = call()
        assert (status, output) == (2, "")
        assert f"standard input looks like a table; name the form: --from {form}" in messages
        standard_input(content)
        assert call("--from", form, "-n", "1")[1] == "A.!\n"


def test_the_standard_input_is_read_from_where_it_stands(call, standard_input):
    standard_input("Read.\nOne.\n")
    os.read(0, len("Read.\n"))
    assert call("-n", "1")[1] == "ONE.!\n"


def test_a_socket_is_read(call, standard_input):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"One.\n")
        ours.shutdown(socket.SHUT_WR)
        os.dup2(theirs.fileno(), 0)
        assert call("-n", "1")[1] == "ONE.!\n"


def test_the_standard_input_is_called_so(call, standard_input):
    standard_input(b"One.\n\xff\n")
    status, output, messages = call("-n", "1")
    assert (status, output) == (1, "ONE.!\n")
    assert "error: standard input, line 2 is not UTF-8" in messages


def test_a_stream_that_is_closed_is_told(call, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert call() == (1, "", "error: the standard input is closed; name a file\n")
    (tmp_path / "a.txt").write_text("One.\n", encoding="utf-8")
    assert call("a.txt", "-n", "1")[:2] == (0, "ONE.!\n")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        assert call("none.txt") == (1, "", "")
    monkeypatch.setattr(sys, "stdout", None)
    status, _, messages = call("a.txt")
    assert status == 1
    assert "error: the standard output is closed" in messages


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tsv", b"txt\nA.\n", "a.tsv, line 1: there is no text; did you mean 'txt'?"),
        ("a.tsv", "text\tn\nA.\t\u0663\n".encode(), "a.tsv, line 2: n is 3.0, and must be a whole"),
        ("a.tsv", b"text\tn\nA.\tmany\n", "a.tsv, line 2: n is 'many', and must be a whole number"),
        ("a.tsv", b"text\tat_least\nA.\tx\n", "line 2: at_least is 'x', and must be a number"),
        ("a.tsv", b"text\tat_least\nA.\t2\n", "line 2: at_least is 2, and must be a number"),
        ("a.jsonl", b'{"text": "A", "at_least": ".5"}\n', "line 1: at_least is '.5', and must"),
        ("a.tsv", b"text\tn\nA.\n", "a.tsv, line 2: 1 columns, but the header has 2"),
        ("a.tsv", b"text\ttext\nA.\tB.\n", "a.tsv, line 1: the header has a column twice"),
        ("a.jsonl", b'{"text": 1}\n', "a.jsonl, line 1: text must be a text"),
        ("a.jsonl", b'{"text": "A", "n": 0}\n', "a.jsonl, line 1: n is 0"),
        ("a.jsonl", b'{"text": "A", "keep": "b"}\n', "a.jsonl, line 1: keep must be a list"),
        ("a.jsonl", b"[]\n", "a.jsonl, line 1: must be an object"),
        ("a.jsonl", b"{\n", "a.jsonl, line 1: no JSON"),
        ("a.jsonl", b'{"text": "A", "text": "B"}\n', "a.jsonl, line 1: a key stands there twice"),
        ("a.jsonl", b'{"text": "A"}\n\n', "a.jsonl, line 2 is empty; take it out"),
        ("a.jsonl", b"{}\n", "a.jsonl, line 1: there is no text\n"),
        ("a.jsonl", b'{"text": "A", "x": NaN}\n', "line 1: the column x can't be repeated"),
        ("a.jsonl", b'{"text": "A", "x": [1e999]}\n', "line 1: the column x can't be repeated"),
        ("a.tsv", b"foo\tbar\n", "a.tsv, line 1: there is no text; known columns: bar, foo"),
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


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("avoids", "avoid"),
        ("Avoid", "avoid"),
        ("aviod", "avoid"),
        ("use", "keep"),
        ("number", "n"),
        ("N", "n"),
        ("sources", "source"),
        ("at-least", "at_least"),
    ],
)
def test_a_column_that_is_nearly_known_is_refused(call, tmp_path, name, meant):
    """Else the wish would not be met, and nobody told."""
    (tmp_path / "a.jsonl").write_text(
        f'{{"text": "A."}}\n{{"text": "B.", "{name}": 1}}\n', encoding="utf-8"
    )
    (tmp_path / "a.tsv").write_text(f"text\t{name}\n", encoding="utf-8")
    for file, line in (("a.jsonl", 2), ("a.tsv", 1)):
        status, _, messages = call(file)
        assert status == 1
        said = f"{file}, line {line}: no column {name} is known; did you mean '{meant}'?"
        assert said in messages


def test_columns_of_others_are_no_slips(call, tmp_path):
    names = ["id", "test", "source_id", "resource", "key", "language", "score"]
    rows = "\t".join(["text", *names]) + "\n" + "\t".join(["A.", *names]) + "\n"
    (tmp_path / "a.tsv").write_text(rows, encoding="utf-8")
    status, output, _ = call("a.tsv", "--to", "jsonl")
    assert status == 0
    assert {name: json.loads(output)[name] for name in names} == {name: name for name in names}


@pytest.mark.parametrize(
    ("form", "taken"),
    [("tsv", "rank, paraphrase, probability, score, why"), ("jsonl", "paraphrases, why")],
)
def test_columns_of_the_answer_are_refused(call, tmp_path, form, taken):
    names = ["text", "source", "rank", "paraphrase", "probability", "score", "paraphrases", "why"]
    (tmp_path / "a.tsv").write_text("\t".join(names) + "\n", encoding="utf-8")
    status, output, messages = call("a.tsv", "--to", form)
    assert (status, output) == (1, "")
    assert f"a.tsv, line 1: the answer has columns of its own called {taken}; give" in messages
    assert call("a.tsv", "--to", "text")[0] == 0


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
        (["--at-least", "1.5"], "at_least is 1.5, and must be a number from 0 to 1"),
        (["--at-least", "0.5", "--judge", "none"], "--at-least needs a judge"),
        (["--threads", "0"], "argument --threads: 0 is below 1"),
        (["--precision", "fp8"], "invalid choice: 'fp8'"),
        (["--there", ""], "an empty name"),
        (["-", "-"], "- stands there twice"),
        (["--seed", "2"], "unrecognized arguments: --seed"),  # nothing is drawn
    ],
)
def test_a_wrong_option_ends_with_2(call, words, said):
    status, _, messages = call(*words)
    assert status == 2
    assert said in messages


def test_precisions_are_those_of_the_search_core():
    assert set(PRECISIONS) == set(precision.PRECISIONS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--samples", "3", "--keep", "a"], "samples can't have words to keep"),
        (["--samples", "0"], "samples is 0"),
        (["--beam", "0"], "beam is 0"),
    ],
)
def test_what_a_translator_refuses_is_a_wrong_option(call, monkeypatch, words, said):
    monkeypatch.setitem(sys.modules, "paraloom.translator", None)
    status, _, messages = call("--model", "any", *words, subcommand="translate")
    assert status == 2
    assert said in messages


def test_a_row_that_can_t_be_scored_has_no_value(call, tmp_path, monkeypatch):
    def values(_, pairs):
        return [float("inf") if len(left) > 9 else float(len(right)) for left, right in pairs]

    text = SimpleNamespace(encode=list)
    loaded = SimpleNamespace(model=None, source=text, target=text)
    monkeypatch.setattr("paraloom.models.load", lambda *_: loaded)
    monkeypatch.setattr("workflow_scripts.nmt.scoring.score", values)
    rows = [("A", "bc"), ("\\ud800", "b"), ("", "b"), ("A" * 10, "b"), ("A", "b")]
    rows.append(("\\u200b", "b"))
    lines = [f'{{"source": "{left}", "target": "{right}"}}\n' for left, right in rows]
    (tmp_path / "a.jsonl").write_text("".join(lines), encoding="utf-8")
    words = ["--model", "any", "--to", "jsonl", "a.jsonl"]
    status, output, messages = call(*words, subcommand="score")
    found = [(row["nll"], row["why"]) for row in map(json.loads, output.splitlines())]
    assert status == 0
    assert [nll for nll, _ in found] == [2.0, None, None, None, 1.0, None]
    assert "surrogate" in found[1][1]
    assert found[2][1] == found[5][1] == "a text is empty"
    assert "a.jsonl, line 4: a text is too long for the model" in messages


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
    require_packages(STUDENTS)
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
