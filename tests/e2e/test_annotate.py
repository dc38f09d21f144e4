"""The annotation page on a real run: its own pairs, and its own paraphrase score."""

from pathlib import Path

import pytest

from tests.e2e.micro import PAPERS
from workflow_scripts.apps.annotate import __main__ as command
from workflow_scripts.apps.annotate.modes import SLOTS, Answer
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairValueRow, ParaphrasesRow
from workflow_scripts.stages.judge import ratings
from workflow_scripts.stages.judge.rating_file import read_ratings

pytestmark = pytest.mark.e2e


def answer_all(store, arguments):
    """In place of the server: one person answers every page."""
    annotator, _ = store.annotator(store.token("Ana"))
    mode = store.settings()["mode"]
    said = {"similarity": Answer(score=100.0, grammar=2), "strength": Answer(strength=3, fluency=2)}
    while page := store.next_page(annotator, 1, SLOTS[mode], 4, 1):
        store.answer(annotator, page.number, [said[mode]] * len(page.slots))
    store.close()


@pytest.fixture
def here(whole, tmp_path, monkeypatch):
    """Where the run was made; the databases stand elsewhere, as it is never to be changed."""
    monkeypatch.chdir(whole.folder)
    monkeypatch.setattr(command, "serve", answer_all)
    return tmp_path


def rows_of(units, kind):
    for system in PAPERS:
        yield from read_rows(Path(f"runs/whole/{units}{system}/0000.parquet"), kind)


def selected():
    rows = rows_of("select.", ParaphrasesRow)
    return {(row["id"], each["text"]) for row in rows for each in row["paraphrases"]}


def test_all_that_a_run_selected_is_rated(here, capsys):
    options = ["--run", "whole", "--database", str(here / "campaign.sqlite")]
    command.main(options)
    command.main([*options, "--export", str(here / "ratings.tsv")])
    found = read_ratings(here / "ratings.tsv")
    pairs = {(each.reference, each.paraphrase) for each in found if not each.control}
    assert pairs == selected()
    assert any(each.control for each in found)
    capsys.readouterr()
    ratings.main(["--ratings", str(here / "ratings.tsv"), "--min-judgments", "1"])
    assert '"similarity": 100.0' in capsys.readouterr().out


def test_pairs_are_drawn_by_the_runs_own_paraphrase_score(here, capsys):
    database, labels = here / "campaign.sqlite", here / "labels.tsv"
    options = ["--run", "whole", "--mode", "strength", "--database", str(database)]
    command.main([*options, "--column", "score", "--per-bin", "3"])
    command.main([*options, "--export", str(labels)])
    head, *rows = (line.split("\t") for line in labels.read_text("utf-8").splitlines())
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert found
    assert {row["label"] for row in found} == {"A"}
    assert {(row["id"], row["paraphrase"]) for row in found} <= selected()
    valued = rows_of("filter.score-", PairValueRow)
    known = {row["id"] for row in valued if row["value"] is not None}
    assert all(-1 <= float(row["paraphrase_score"]) <= 1 for row in found)
    assert {row["id"] for row in found} <= known
    assert "paraphrase score" in capsys.readouterr().out
