"""A run plans the units of templates, and tells what keeps it from that."""

import json
from types import SimpleNamespace

import pytest

from tests.configs import ROOT, run_on_testbed
from tests.golden.inputs import arguments, write_table
from tests.stanza_package import FOLDER
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.report.cells import COLUMNS
from workflow_scripts.core.report.rendering import environment
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.rewrite import about as telling
from workflow_scripts.stages.rewrite import (
    continued,
    measure,
    side_vocabulary,
    syntax_templates,
    train,
)
from workflow_scripts.stages.rewrite.export_rewriter import card
from workflow_scripts.stages.rewrite.results import FIGURES
from workflow_scripts.stages.rewrite.stage import Rewrite
from workflow_scripts.stages.rewrite.syntax_templates import TABLE, Template, prefixed

FOLDER_OF_TEMPLATES = ROOT / "workflow_scripts" / "stages" / "rewrite" / "templates"


def config(**keys):
    content = run_on_testbed()
    content["run"]["rewriters"] = ["mine"]
    content["rewriters"] = {"mine": {"training_sets": ["all"], "model": "testbed", **keys}}
    content["evaluate"]["syntax"] = {
        **{"folder": str(FOLDER), "package": "default", "levels": 3, "share": 1.0}
    }
    return content


def test_templates_stand_between_the_pairs_and_the_vocabulary():
    stage = run_layout(config(templates={})).stage(Rewrite)
    assert stage.instances() == [
        *("mine-pairs", "mine-parses", "mine-templates", "mine-subword", "mine"),
        *("mine-measures", "mine-control"),
    ]
    assert stage.reads("mine-subword") == [("rewrite", "mine-templates")]
    assert ("rewrite", "mine-templates") in stage.reads("mine")
    expected = {"swap": True, "free": 0.1, "equal": 0, "seed": 1}
    assert stage.settings("mine-templates") == expected
    assert stage.settings("mine-control")["most"] == 20
    assert 76 in stage.sections()


def test_nothing_is_exchanged_where_both_directions_are_learnt():
    both = config(templates={}, write=["paraphrase", "reference"])
    assert run_layout(both).stage(Rewrite).settings("mine-templates")["swap"] is False


def test_the_training_text_of_templates_is_cut_once():
    sampling = config(templates={})
    sampling["subword"] |= {"model_type": "unigram", "samples": 4, "nbest": 64, "alpha": 0.1}
    stage = run_layout(sampling).stage(Rewrite)
    assert stage.settings("mine-subword")["samples"] == 0
    del sampling["rewriters"]["mine"]["templates"]
    assert run_layout(sampling).stage(Rewrite).settings("mine-subword")["samples"] == 4
    asked = config(templates={}, samples=2)
    asked["subword"]["model_type"] = "unigram"
    (problem,) = Rewrite.problems(asked)
    assert problem.startswith("rewriters.mine.samples: sampled segmentations cut the symbols")
    assert list(Rewrite.problems(config(templates={}, samples=0))) == []


def test_without_templates_nothing_of_them_is_planned():
    layout = run_layout(config())
    stage = layout.stage(Rewrite)
    assert stage.instances() == ["mine-pairs", "mine-subword", "mine", "mine-measures"]
    assert "templates" not in json.dumps(
        [stage.settings(instance) for instance in stage.instances()]
    )
    assert 76 not in stage.sections()
    # The pairs of both are the same.
    with_templates = run_layout(config(templates={}))
    pairs = ("rewrite", "mine-pairs")
    assert layout.folder(*pairs) == with_templates.folder(*pairs)
    assert layout.folder("rewrite", "mine") != with_templates.folder("rewrite", "mine")


def test_the_share_and_the_number_of_sentences_change_what_depends_on_them_alone():
    first = run_layout(config(templates={}))
    other = run_layout(config(templates={"free": 0.2}))
    judged = run_layout(config(templates={"sentences": 50}))

    def same(layout, part):
        return layout.folder("rewrite", f"mine{part}") == first.folder("rewrite", f"mine{part}")

    assert same(other, "-parses") and not same(other, "-templates") and not same(other, "")
    assert same(judged, "") and not same(judged, "-control")
    half, none = (run_layout(config(templates={"equal": share})) for share in (0.5, 0))
    assert same(half, "-parses") and not same(half, "-templates")
    assert all(same(none, part) for part in ("-templates", "", "-control"))


@pytest.mark.parametrize("part", ["-parses", "-control"])
def test_the_parser_counts_by_the_content_of_its_files(part):
    stage = run_layout(config(templates={})).stage(Rewrite)
    hashes = stage.inputs(f"mine{part}")
    assert len(hashes) == 4
    content = json.dumps(stage.content(f"mine{part}"), default=str)
    assert all(digest in content for digest in hashes.values())
    assert str(FOLDER) not in content
    assert stage.inputs("mine-templates") == {}


def test_templates_need_a_parser():
    lacking = config(templates={})
    lacking["evaluate"]["syntax"] = None
    (problem,) = Rewrite.problems(lacking)
    assert problem.startswith("rewriters.mine.templates: templates are cut from trees")
    assert "set evaluate.syntax" in problem
    assert list(Rewrite.problems(config(templates={}))) == []


TABLE_FACTS = {"count": 1, "labels": ["NP", "S", "``"], "examples": 12}
COUNTS = {
    **{"rows": {"train": 12, "dev": 2}, "references": {"train": 4, "dev": 1}},
    "left_out": {"equal_templates": 6, "without_tree": 2},
}


def write_templates(folder):
    table = folder / "unit" / TABLE
    table.parent.mkdir()
    syntax_templates.write_table(table, [Template("(S (NP) (``))", 12, "a")])
    write_record(table, 12, 12, {}, COUNTS)
    return table


def test_a_vocabulary_gets_the_symbols_of_the_table(tmp_path):
    assert side_vocabulary.symbols(write_templates(tmp_path)) == ["((NP", "((OPEN", "((S", "))"]


def test_the_model_folder_gets_the_table(tmp_path):
    table = write_templates(tmp_path)
    output = tmp_path / "model"
    output.mkdir()
    facts = {"name": "mine", "templates": {"free": 0.1}, "left_out": {"duplicate": 5}}
    facts |= {"pairs": {"train": 99}, "references": {"train": 9}}
    assert telling.take_table(facts | {"write": ["paraphrase"]}, table, output) == {
        **{"name": "mine", "write": ["paraphrase"], "templates": {"free": 0.1, **TABLE_FACTS}},
        **{"pairs": {"train": 12, "dev": 2}, "references": {"train": 4, "dev": 1}},
        "left_out": {"duplicate": 5, "equal_templates": 6, "without_tree": 2},
    }
    assert (output / TABLE).read_bytes() == table.read_bytes()
    # Learnt in both directions, two rows are one pair.
    facts_of_both = telling.take_table(
        facts | {"write": ["paraphrase", "reference"]}, table, output
    )
    assert facts_of_both["pairs"] == {"train": 6, "dev": 1}
    assert facts_of_both["references"] == {"train": 4, "dev": 1}
    assert facts_of_both["left_out"] == {"duplicate": 5, "equal_templates": 3, "without_tree": 1}


def test_a_card_tells_how_templates_are_read():
    about = {
        **{"name": "mine", "language": "en", "systems": ["a"], "write": ["paraphrase"]},
        **{"training_sets": ["all-a"], "licence": "mit", "pairs": {}, "references": {}},
        **{"inputs": {"corpora": {}, "models": {}}, "left_out": {}, "noise": None},
    }
    metrics = {"parameters": 1, "updates": 1, "validation_perplexity": 1.0}
    measures = dict.fromkeys(("beam_size", *FIGURES)) | {"beam_size": 1, "sentences": 1}
    parts = (metrics, {"greedy": measures}, [], "mit")
    of_templates = {"count": 1234, "examples": 56789, "equal": 0}
    text = card(about | {"templates": of_templates}, *parts)
    assert f"`{prefixed('(S (NP) (VP) (.))', 'A sentence of yours.')}`" in text
    assert f"`{prefixed(None, 'A sentence of yours.')}`" in text
    assert "the 1,234 templates" in text
    assert "It learnt from 56,789 examples, one of a pair. Pairs of two texts with the same" in text
    both = about | {"write": ["paraphrase", "reference"]}
    text = card(both | {"templates": of_templates | {"equal": 0.25}}, *parts)
    assert "It learnt from 56,789 examples, two of a pair, one in each direction." in text
    assert "with the same template 25 % are among them; the rest" in text
    assert "Pairs of two texts with the same" not in text
    assert "templates" not in card(about, *parts)


def test_the_report_tells_how_many_examples_have_templates():
    about = {
        **{"training_sets": ["all-a"], "write": ["paraphrase"], "left_out": {}},
        **{"pairs": {"train": 29852}, "references": {"train": 12000}},
    }
    both = {"plain": about, "mine": about | {"templates": {"examples": 12262}}}
    templates = environment(FOLDER_OF_TEMPLATES)
    template = templates.get_template("rewriters.html.j2", globals=COLUMNS)
    metrics = {name: {"validation_perplexity": 2.0} for name in both}
    none = Table("", [])
    text = template.render(about=both, metrics=metrics, measures=none, examples={}, curves=[])
    assert text.count("29,852 (12,000)") == 2
    assert text.count("29,852 (12,000); 12,262 examples with templates") == 1


@pytest.mark.parametrize("controlled", [True, False])
def test_the_measures_leave_the_syntax_free(tmp_path, monkeypatch, controlled):
    read = []

    def rewritten(model, folder, texts, beam):
        read.extend(texts)
        return list(texts)

    monkeypatch.setattr(measure, "rewritten", rewritten)
    monkeypatch.setattr(measure, "load_model", lambda folder, device: None)
    row = {"id": "c:1-x", "source": "I ran ((a)).", "reference": "We ran.", "corpus": "test"}
    write_table(tmp_path / "0000.parquet", PairRow, [row])
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "params.best").write_bytes(b"")
    files = [tmp_path / "model" / "params.best"]
    write_record(tmp_path / "model" / "model", 0, 0, {}, files=files)
    settings = {"beam": 2, "bootstrap": 5, "language": "sv", "testbed": False, "seed": 1}
    settings |= {"templates": True} if controlled else {}
    output = tmp_path / "paraphrases.jsonl"
    measure.measure(settings, tmp_path / "model", tmp_path, 1, output, device="cpu")
    assert set(read) == {")) I ran ( (a) )." if controlled else "I ran ((a))."}


@pytest.mark.parametrize("module", [train, continued])
def test_both_trainings_put_the_table_into_the_model_folder(tmp_path, monkeypatch, module):
    calls = []
    monkeypatch.setattr(module, "make_model", lambda *arguments: calls.append(arguments))
    monkeypatch.setattr(telling, "read_manifest", lambda path: {"parts": {}, "rejected": {}})
    table = write_templates(tmp_path)
    common = {"role": "mine", "seed": 1}
    common["about"] = {"name": "mine", "templates": {"free": 0.1}, "write": ["paraphrase"]}
    if module is train:
        settings = {**common, "model": {}, "direction": "forward"}
        models = {"source_model": "s.model", "reference_model": "r.model"}
    else:
        settings = {**common, "continued": {"from": "forward"}}
        models = {"model": "model"}
    output = tmp_path / "model"
    files = {"segments": tmp_path, "shards": 1, "pairs": "manifest.json", "templates": table}
    files |= {"work": tmp_path / "work", "output": output, "device": "cpu"}
    module.main(arguments(settings, **files, **models))
    assert (output / TABLE).read_bytes() == table.read_bytes()
    assert calls[0][-1] == ["rewriter.json", TABLE]
    about = json.loads((output / "rewriter.json").read_text(encoding="utf-8"))
    assert about["templates"] == {"free": 0.1, **TABLE_FACTS}


def at(**more):
    names = ("rewriter", "trained_rewriter", "continued_rewriter")
    return SimpleNamespace(**dict.fromkeys(names, "mine"), **more)


def test_the_table_goes_to_both_trainings_and_to_the_vocabulary_of_what_is_read():
    stage = run_layout(config(templates={})).stage(Rewrite)
    table = f"{stage.folder('mine-templates')}/{TABLE}"
    without = run_layout(config()).stage(Rewrite)
    begun = config(templates={}, continued={"from": "forward", "max_updates": 100})
    del begun["rewriters"]["mine"]["model"]
    going_on = run_layout(begun).stage(Rewrite)
    for job, expected in (
        (stage.train_job(at()), table),
        (stage.vocabulary_job(at(side="source")), table),
        (stage.vocabulary_job(at(side="reference")), None),
        (going_on.continue_job(at()), f"{going_on.folder('mine-templates')}/{TABLE}"),
        (without.train_job(at()), None),
    ):
        assert job.reads["templates"] == expected
