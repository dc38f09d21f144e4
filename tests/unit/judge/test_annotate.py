"""The command: campaigns are made, served, killed, gone on with and exported."""

import http.client
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests.processes import none_left
from tests.unit.judge.annotation import write_pairs, write_run
from tests.unit.judge.test_server import Browser
from workflow_scripts.apps.annotate import __main__ as command
from workflow_scripts.apps.annotate.__main__ import main
from workflow_scripts.apps.annotate.store import Store
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.judge import ratings
from workflow_scripts.stages.judge.rating_file import read_ratings

ROOT = Path(__file__).resolve().parents[3]


class Served:
    """The command as a process of its own."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workflow_scripts.apps.annotate", "--port", "0", *options],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if line.startswith("Answers stand in"):
                break
        self.port = int(re.search(r":(\d+)/", "".join(self.lines))[1])

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        return code


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with none_left():
        yield write_run(tmp_path)


@pytest.mark.slow
def test_a_run_is_rated_exported_and_aggregated(run, tmp_path, capsys):
    served = Served(tmp_path, "--run", "mine", "--judgments", "1", "--controls", "2")
    browser = Browser(served.port, "Ana")
    while browser.number:
        browser.rate(100)
    assert served.end() == 0
    main(["--run", "mine", "--export", "ratings.tsv"])
    assert "of 1 annotators" in capsys.readouterr().out
    ratings.main(["--ratings", "ratings.tsv"])
    printed = capsys.readouterr().out
    assert '"one"' in printed and '"two"' in printed
    systems = {rating.systems for rating in read_ratings(Path("ratings.tsv"))}
    assert systems == {("one",), ("two",), ("one", "two"), ("0",)}
    assert len([rating for rating in read_ratings(Path("ratings.tsv")) if not rating.control]) == 44


@pytest.mark.rest
@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(run, tmp_path):
    """Ten people send pages as fast as they can while the server is killed, five times."""
    write_pairs(tmp_path / "pairs.tsv", references=400)
    acknowledged, sent = Counter(), Counter()
    lock = threading.Lock()

    def annotate(port, name, score):
        try:
            browser = Browser(port, name)
            while number := browser.number:
                texts = browser.texts
                with lock:
                    sent.update((name, text) for text in texts)
                browser.rate(score)
                # The answer of the server to the form was a page with another number.
                if browser.number != number:
                    with lock:
                        acknowledged.update((name, text, score) for text in texts)
        except (OSError, http.client.HTTPException):  # the server is gone
            return

    options = ("--pairs", "pairs.tsv", "--judgments", "3", "--controls", "0")
    for kill in range(5):
        served = Served(tmp_path, *options)
        people = [
            threading.Thread(target=annotate, args=(served.port, f"p{n}", 10 * kill))
            for n in range(10)
        ]
        for person in people:
            person.start()
        wanted = (kill + 1) * 100
        deadline = time.monotonic() + 60
        while sum(acknowledged.values()) < wanted and time.monotonic() < deadline:
            time.sleep(0.01)
        assert served.end(signal.SIGKILL) == -signal.SIGKILL
        for person in people:
            person.join()
    path = Path("ratings/pairs-similarity.sqlite")
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store = Store(path)
    names = {store.annotator(store.token(f"p{n}"))[0]: f"p{n}" for n in range(10)}
    stored = Counter(
        (names[judgment.annotator], judgment.item.paraphrase, judgment.answer.score)
        for judgment in store.judged()
    )
    assert sum(acknowledged.values()) >= 500
    assert acknowledged - stored == Counter()
    # What was stored without an acknowledgment was sent, and nothing is there twice.
    assert {row[:2] for row in stored} <= set(sent)
    assert len({row[:2] for row in stored}) == sum(stored.values())


@pytest.mark.slow
def test_a_campaign_goes_on_where_it_ended(run, tmp_path):
    served = Served(tmp_path, "--run", "mine")
    browser = Browser(served.port, "Ana")
    browser.rate()
    texts = browser.texts
    assert served.end(signal.SIGINT) == 0
    served = Served(tmp_path, "--run", "mine")
    again = Browser(served.port, "Ana")
    assert again.texts == texts
    assert "You judged 0." not in again.page
    # An export while the page is served.
    main(["--run", "mine", "--export", "ratings.tsv"])
    assert served.end() == 0
    assert read_ratings(Path("ratings.tsv"))


@pytest.mark.slow
def test_named_annotators_get_links(run, tmp_path):
    served = Served(tmp_path, "--run", "mine", "--annotator", "Ana", "--annotator", "Bob")
    links = dict(line.split("\t") for line in served.lines[:2])
    assert set(links) == {"Ana", "Bob"}
    browser = Browser(served.port)
    browser.get(links["Ana"].removeprefix(f"http://127.0.0.1:{served.port}"))
    assert "Ana" in browser.page and browser.texts
    assert "Open the link" in Browser(served.port).get()
    assert served.end() == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_links_to_all_addresses_have_the_name_of_the_machine(run, monkeypatch, capsys, host):
    monkeypatch.setattr(command.serving, "listen", lambda host, port: socket.create_server(("", 0)))
    monkeypatch.setattr(command.serving, "serve", lambda app, listening: listening.close())
    main(["--run", "mine", "--host", host, "--annotator", "Ana"])
    assert f"Ana\thttp://{socket.gethostname()}:" in capsys.readouterr().out


def refused(message, *options):
    with pytest.raises(InputError, match=message):
        main([*options])


@pytest.mark.slow
def test_another_campaign_needs_another_file(run, monkeypatch):
    monkeypatch.setattr(command, "serve", lambda store, arguments: store.close())
    main(["--run", "mine"])
    main(["--run", str(run), "--judgments", "5"])  # this may change
    refused("made with references 100", "--run", "mine", "--references", "5")
    refused("made with seed 1", "--run", "mine", "--seed", "2")
    folder = (run / "select.two").resolve()
    (run / "select.two").unlink()
    folder.rename(folder.with_name("v1-another"))
    (run / "select.two").symlink_to(folder.with_name("v1-another"))
    refused(r"made with units \['select.one", "--run", "mine")
    main(["--run", "mine", "--database", "new.sqlite"])
    main(["--database", "new.sqlite"])
    assert Path("new.sqlite").exists()
    assert Path("ratings/mine-similarity.sqlite").exists()


def test_a_campaign_whose_making_was_cut_off_is_made_again(run, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "serve", lambda store, arguments: store.close())
    write_pairs(tmp_path / "pairs.tsv")
    with closing(sqlite3.connect("cut.sqlite")) as database:
        database.execute("PRAGMA journal_mode = WAL")
    assert Path("cut.sqlite").stat().st_size
    main(["--pairs", "pairs.tsv", "--database", "cut.sqlite"])
    assert Store(Path("cut.sqlite")).settings()["mode"] == "similarity"
    Path("text.sqlite").write_text("No database. " * 100)
    refused("is no database of ratings", "--pairs", "pairs.tsv", "--database", "text.sqlite")


def test_faults_are_named(run):
    refused("name the pairs with --run or --pairs", "--mode", "labels")
    refused("no run there", "--run", "yours")
    refused("no database there", "--run", "mine", "--export", "ratings.tsv")
    refused("name the paraphrase score with --column", "--run", "mine", "--mode", "strength")
    refused("lets others in: name each annotator", "--run", "mine", "--host", "0.0.0.0")
    refused(r"pairs\.tsv can't be read", "--pairs", "pairs.tsv")
    refused("--best chooses pairs of a run", "--pairs", "pairs.tsv", "--best", "1")
    refused("no page at 127.0.0.1, port 99999", "--run", "mine", "--port", "99999")


def test_the_table_of_marks_is_printed_with_the_export(run, tmp_path, monkeypatch, capsys):
    from workflow_scripts.apps.annotate.modes import Answer

    def answer_one(store, arguments):
        annotator, _ = store.annotator(store.token("Ana"))
        page = store.next_page(annotator, 1, 1, 0, 1)
        store.answer(annotator, page.number, [Answer(strength=3, fluency=2)])
        store.close()

    write_pairs(tmp_path / "pairs.tsv", paraphrase_score=lambda r, n: 0.3)
    monkeypatch.setattr(command, "serve", answer_one)
    options = ["--pairs", "pairs.tsv", "--mode", "strength"]
    main([*options, "--per-bin", "4"])
    main([*options, "--export", "labels.tsv"])
    printed = capsys.readouterr().out
    assert "labels.tsv: 1 rows of 1 annotators" in printed
    assert re.search(r"\(0\.2, 0\.4\] +1 +0 +0 +1 +0 +1 +0", printed)
    refused(r"--export: \. is a folder", *options, "--export", ".")
    refused("/a can't be written: ", *options, "--export", "labels.tsv/a")
