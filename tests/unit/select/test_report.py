import re

from tests.unit.pages import Reader
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.stages.select import report
from workflow_scripts.stages.select.report import sample_references

SECTION = "workflow_scripts.stages.select.report:references"


def test_hostile_references_are_shown_as_they_are(made_up_run, monkeypatch):
    monkeypatch.setattr(report, "SAMPLE", 1000)
    reader = Reader(made_up_run.section(SECTION))
    assert reader.faults == []
    assert set(made_up_run.hostile) <= set(reader.text)


def test_seen_and_held_out_are_marked(made_up_run):
    page = made_up_run.section(SECTION)
    seen, held_out = page.count('class="badge seen"'), page.count('class="badge held_out"')
    assert seen + held_out == 12
    assert 0 < seen < 12
    for badge, corpus in re.findall(r'class="badge (\w+)">.*?</span> (\w+):\d+', page):
        assert (badge == "held_out") == (corpus == "news_held_out")


def test_sample_is_seeded_and_independent_of_system_and_order(made_up_run):
    samples = {}
    for system in made_up_run.systems:
        shards = sorted(made_up_run.folder("select", system).glob("*.parquet"))
        samples[system] = [row["id"] for row in sample_references(shards, seed=1)]
        assert [row["id"] for row in sample_references(shards[::-1], seed=1)] == samples[system]
        assert [row["id"] for row in sample_references(shards, seed=2)] != samples[system]
    assert samples["parabank2"] == samples["beam"]
    assert len(set(samples["beam"])) == 12
    rows = [row for path in shards for row in read_rows(path, ParaphrasesRow)]
    assert set(samples["beam"]) < {row["id"] for row in rows}
