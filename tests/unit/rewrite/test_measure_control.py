"""The job that asks a rewriter for templates, and how its results are shown."""

import json

import pytest

from tests.golden.inputs import arguments, write_table
from tests.stanza_package import FOLDER, LANGUAGE, PACKAGE
from tests.unit.nmt.folders import write_model
from tests.unit.pages import captioned, rows_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record, write_record
from workflow_scripts.core.files.rows import PairRow, TreesRow
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.section import sections
from workflow_scripts.stages.rewrite import measure_control, syntax_templates
from workflow_scripts.stages.rewrite.measure_control import held_out
from workflow_scripts.stages.rewrite.report import control_table, template_table
from workflow_scripts.stages.rewrite.results import controlled
from workflow_scripts.stages.rewrite.syntax_templates import Template
from workflow_scripts.stages.subword.train import train_model

S, SQ = "(S (NP) (VP) (.))", "(SQ (VBD) (NP) (VP) (.))"
TREES = {
    S: "(ROOT (S (NP (NN dog)) (VP (VBD ran)) (. .)))",
    SQ: "(ROOT (SQ (VBD did) (NP (NN dog)) (VP (VB run)) (. ?)))",
}
CONFIG = {
    **{"most": 2, "sentences": 4, "beam": 2, "swap": True, "bootstrap": 20, "seed": 1},
    **{"language": "en", "testbed": True},
    "parser": {"folder": str(FOLDER), "package": PACKAGE, "language": LANGUAGE},
}


def write_pairs(folder, corpus="test", many=9):
    """Write a shard of pairs and one of their trees."""
    rows = [
        {
            "id": f"c:{number}",
            "source": f"The dog slept{'!' * number}.",
            "reference": "Did the dog sleep?",
            "corpus": corpus if number else "train",
        }
        for number in range(many)
    ]
    cut = [
        {"id": row["id"], "corpus": "", "parsed": True, "reference": TREES[SQ], "paraphrases": [
            TREES[S]
        ]}
        for row in rows
    ]  # fmt: skip
    for name in ("pairs", "trees"):
        (folder / name).mkdir(exist_ok=True)
    return (
        [write_table(folder / "pairs" / "0000.parquet", PairRow, rows)],
        [write_table(folder / "trees" / "0000.parquet", TreesRow, cut)],
    )


def test_the_held_out_pairs_are_a_sample_by_their_ids(tmp_path):
    files = write_pairs(tmp_path)
    few, all_of_them = (held_out(*files, CONFIG | {"sentences": count}) for count in (4, 99))
    assert len(all_of_them) == 8
    assert few == all_of_them[:4]
    assert {pair.wanted for pair in all_of_them} == {S, SQ}
    straight = held_out(*files, CONFIG | {"swap": False, "sentences": 99})
    assert {(pair.own, pair.wanted) for pair in straight} == {(S, SQ)}


def test_without_held_out_pairs_there_is_nothing_to_judge_by(tmp_path):
    files = write_pairs(tmp_path, corpus="train")
    with pytest.raises(InputError, match=r"raise held_out\.test"):
        held_out(*files, CONFIG)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of the finished job, of a model that knows nothing."""
    folder = tmp_path_factory.mktemp("control")
    write_pairs(folder)
    model = write_model(folder / "model", end_bias=1.0)
    text = ["((S((NP)) 4 5 6 7 8 9 10 11 12"] * 20
    spm = train_model(
        text, {"model_type": "bpe", "vocab_size": 30, "coverage": 1.0, "split_digits": False}
    )
    for side in ("source", "reference"):
        (model / f"{side}.model").write_bytes(spm)
    write_record(model / "model", 1, 1, {}, files=list(model.iterdir()))
    table = folder / "templates" / syntax_templates.TABLE
    table.parent.mkdir()
    syntax_templates.write_table(
        table, [Template(S, 9, "a"), Template(SQ, 5, "b"), Template("(X)", 1, "c")]
    )
    write_record(table, 15, 15, {})
    output = folder / "out"
    output.mkdir()
    inputs = {"model": model, "templates": table, "pairs": folder / "pairs"}
    inputs |= {"trees": folder / "trees", "inputs": "{}", "shards": 1, "device": "auto"}
    measure_control.main(arguments(CONFIG, **inputs, output=output / "answers.tsv"))
    return output


@pytest.mark.slow
def test_every_answer_is_a_line_and_one_record_speaks_for_all(finished):
    header, *lines = (finished / "answers.tsv").read_text(encoding="utf-8").splitlines()
    columns = header.split("\t")
    assert columns[-4:] == ["cosine", "cosine_best", "exact", "exact_best"]
    rows = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]
    content = json.loads((finished / "control.json").read_text(encoding="utf-8"))
    assert content["beam_size"] == 2
    settings = content["settings"]
    assert {name: figures["answers"] for name, figures in settings.items()} == {
        name: sum(row["setting"] == name for row in rows) for name in settings
    }
    assert settings["target"]["answers"] == 4
    assert [template["template"] for template in content["templates"]] == [S, SQ]
    assert [row["read"] for row in rows if row["setting"] == "free"] == [""] * 4
    record = read_record(finished / "answers.tsv")
    assert sorted(record["files"]) == ["answers.tsv", "control.json"]
    assert record["rows_out"] == len(rows)


def test_met_is_told_by_the_templates_in_the_line(finished):
    header, *lines = (finished / "answers.tsv").read_text(encoding="utf-8").splitlines()
    columns = header.split("\t")
    for line in lines:
        row = dict(zip(columns, line.split("\t"), strict=True))
        assert row["met"] == str(int(row["template"] == row["asked"]))
        assert row["met_best"] == str(int(row["best_template"] == row["asked"]))
        assert row["met_best"] >= row["met"]


def test_the_report_and_the_tables_show_the_results(finished):
    run = FinishedRun({}, [(("rewrite", "mine-control"), finished)])
    content = controlled(run)["mine"]
    (section,) = sections(["workflow_scripts.stages.rewrite.report:syntactic_control"], run)
    rows = rows_of(captioned(section.html, "mine: templates that were met"))[1:]
    assert len(rows) == 5
    for row, (name, one) in zip(rows, content["settings"].items(), strict=True):
        assert row[1] == str(one["answers"]), name
        assert row[2].startswith(f"{one['met']:.1f} ")
    assert "<code>(S (NP) (VP) (.))</code>" in section.html
    assert "as ParaNMT-50M, Table 11" in section.html
    table = control_table(run)
    assert list(table.frame()["setting"]) == list(content["settings"])
    by_template = template_table(run)
    assert list(by_template.frame()["template"]) == [S, SQ]


def test_a_run_without_templates_has_no_such_section():
    run = FinishedRun({}, [])
    assert sections(["workflow_scripts.stages.rewrite.report:syntactic_control"], run) == []


def test_measures_that_a_run_lacks_are_left_empty(finished, tmp_path):
    content = json.loads((finished / "control.json").read_text(encoding="utf-8"))
    for figures in (*content["settings"].values(), *content["templates"]):
        for key in [key for key in figures if key.startswith(("cosine", "exact"))]:
            del figures[key]
    (tmp_path / "control.json").write_text(json.dumps(content), encoding="utf-8")
    write_record(tmp_path / "answers", 0, 0, {}, files=[tmp_path / "control.json"])
    run = FinishedRun({}, [(("rewrite", "mine-control"), tmp_path)])
    (section,) = sections(["workflow_scripts.stages.rewrite.report:syntactic_control"], run)
    rows = rows_of(captioned(section.html, "mine: the most frequent templates"))[1:]
    assert [len(row) for row in rows] == [6, 6]
    assert rows[0][-1] == rows[0][-2]
    assert control_table(run).frame().iloc[0, -1] is None
