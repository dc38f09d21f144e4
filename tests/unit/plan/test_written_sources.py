"""Corpora of text whose sources are written: the plan of a run, and what is refused."""

from pathlib import Path

import pytest

from tests.commands import require_right_waits
from tests.configs import ROOT, at, changes, keys, merged, refusal, refusals, replaced
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.catalogue import run_layout


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A run on bitext and on text, by the demo's models."""
    monkeypatch.chdir(tmp_path)
    Path("mine.en").write_text("A sentence.\n", encoding="utf-8")
    Path("news.tsv").write_text("Uma frase.\tA sentence.\n", encoding="utf-8")
    changes = {
        "run": {"corpora": ["news", "mine"], "systems": ["parabank2_demo"]},
        "corpora": {
            "news": {"tsv": "news.tsv", "columns": {"source": 0, "reference": 1}},
            "mine": {"text": "mine.en"},
        },
        "train": {"test": None},
    }
    return merged(resolve([], []), changes)


def test_sources_are_written_before_there_are_pairs(config):
    layout = run_layout(config)
    writers = [("train", "writer_forward"), ("train", "writer_backward")]
    behind = layout.all_upstream([("corpus", "mine")])
    assert [unit for unit in layout.units() if unit in behind] == [
        ("corpus", "mine-text"),
        *writers,
        ("generate", "mine-sources"),
        ("corpus", "mine"),
    ]
    assert ("corpus", "mine") in layout.upstream(("clean", None))
    assert ("corpus", "mine-text") not in layout.upstream(("clean", None))
    for unit, direction in zip(writers, ("forward", "backward"), strict=True):
        settings = layout.settings(unit)
        assert settings["direction"] == direction
        assert settings["model"] == layout.settings(("train", direction))["model"]
    require_right_waits(layout)


def test_each_key_names_the_folders_that_depend_on_it_alone(config):
    before = keys(run_layout(config))

    def changed(path, value):
        after = keys(run_layout(merged(config, at(path, value))))
        assert after.keys() == before.keys()
        return {unit for unit in before if after[unit] != before[unit]}

    writing = {("generate", "mine-sources"), ("corpus", "mine"), ("clean", None)}
    bound = changed("corpora.mine.max_nll", 3.0)
    assert bound >= {("corpus", "mine"), ("clean", None)}
    assert not bound & {("generate", "mine-sources"), ("corpus", "mine-text"), ("corpus", "news")}
    search = changed("corpora.mine.search", {"method": "beam", "beam_size": 8})
    assert search >= writing
    assert not search & {("corpus", "mine-text"), ("train", "writer_backward"), ("corpus", "news")}
    Path("mine.en").write_text("Another sentence.\n", encoding="utf-8")
    assert changed("seed", config["seed"]) >= {("corpus", "mine-text"), *writing}


def test_a_run_without_text_has_no_writers(config):
    layout = run_layout(replaced(config, "run", "corpora", ["news"]))
    assert not {instance for _, instance in layout.units()} & {
        *("writer_forward", "writer_backward", "mine", "mine-text", "mine-sources")
    }


def test_the_mark_stands_in_what_manifests_and_the_release_are_told(config):
    layout = run_layout(config)
    mark = "written by student_en_pt"
    for unit in (("corpus", "mine"), ("generate", "mine-sources")):
        assert layout.description(unit)["config"]["source"] == mark
    assert layout.settings(("release", None))["written_sources"] == {"mine": mark}
    config = replaced(config, "run", "corpora", ["news"])
    without = run_layout(config)
    assert "written_sources" not in without.settings(("release", None))
    assert "sources" not in without.declaration("release").system_settings("parabank2_demo")
    for wanted in ({"written": 2}, {"human": False, "written": 1}):
        pool = run_layout(merged(config, at("systems.parabank2_demo.sources", wanted)))
        told = pool.declaration("release").system_settings("parabank2_demo")["sources"]
        assert told == {"human": True, **wanted, "mark": mark}


REFUSED = """
train: {dev: news, models: {backward: generation}} => corpora.mine.text: a circle:
    train.models.backward is to write its sources, but models.generation is trained on the bitext of
    this run, and corpora.mine is part of that; name a finished model in train.models.backward
train: {dev: news, models: {forward: generation}} => corpora.mine.text: a circle:
    train.models.forward is to score them, but models.generation
{models.own: {folder: model, source_model: model/source.model, reference_model:
    model/reference.model}, train.models.backward: own} => models.own counts as trained on the
    bitext of this run; say in models.own.trained_on
train.test: mine => : the sources of 'mine' are written by a model
corpora.mine.trusted: true => : that is for bitext
corpora.mine: {source: a.pt, reference: a.en} => : One corpus
corpora.news.max_nll: 3.0 => corpora.news: 'max_nll' needs key 'text'
corpora.mine.max_nll: 0 => : 0 is less than or equal
corpora.mine.search.method: beem => corpora.mine.search
corpora.mine.url: https://a.org/b.en => does not begin with the name of a
"""


@pytest.mark.parametrize(("change", "expected"), refusals(REFUSED))
def test_what_can_not_be_is_refused_by_its_keys(config, change, expected):
    assert expected in refusal(config, changes(change))


def test_a_text_may_be_downloaded(config):
    block = {"text": "b.en", "url": "https://a.org/b.en", "sha256": "0" * 64}
    layout = run_layout(merged(config, {"corpora": {"mine": block}}))
    assert layout.declaration("corpus").outside("mine-text") == [f"downloads/{'0' * 64}/b.en"]
    assert layout.declaration("corpus").outside("mine") == []


def test_the_example_of_the_page_is_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "corpus.md").read_text(encoding="utf-8")
    block = page.split("## Text without bitext")[1].split("```yaml\n")[1].split("```")[0]
    Path("mine.yaml").write_text(block, encoding="utf-8")
    Path("sentences.en").write_text("A sentence.\n", encoding="utf-8")
    units = run_layout(resolve([Path("mine.yaml")], [])).units()
    assert ("generate", "mine-sources") in units
