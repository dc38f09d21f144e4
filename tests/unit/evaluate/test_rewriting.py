"""A system that a rewriter writes beside one of the forward model: Tables 6 and 7 of ParaBank."""

import json
import math
import statistics
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.configs import at, merged, run_on_testbed
from tests.golden.inputs import arguments
from tests.tables import write_table
from tests.unit.evaluate.test_variants import row
from tests.unit.pages import Reader
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import ScoredRow
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.core.report.section import sections
from workflow_scripts.plan.layout import Layout
from workflow_scripts.stages.catalogue import STAGES
from workflow_scripts.stages.evaluate import rewriting, tables
from workflow_scripts.stages.evaluate.modified_bleu import modified_bleu
from workflow_scripts.stages.evaluate.rewriting import (
    Judges,
    Output,
    Side,
    beside,
    over,
    paraphrases,
)
from workflow_scripts.stages.evaluate.stage import Evaluate
from workflow_scripts.stages.judge.features import Models
from workflow_scripts.stages.release import quoted
from workflow_scripts.testbed.checker import Checker

FIVE, TEN = "a b c d e", "one two three four five six seven eight nine ten"


class Letters:
    """A vector of a sentence's letters: sentences of the same letters have cosine 1."""

    def encode(self, sentences):
        letters = "abcdefghijklmnopqrstuvwxyz"
        return np.array(
            [[text.lower().count(each) for each in letters] for text in sentences], np.float32
        )


@pytest.fixture
def judges():
    return Judges(Models(encoder=Letters()), None, [])


BILINGUAL = [
    row("c", 1, FIVE, s28="a b c d x", s34="e d c b a"),
    row("c", 2, "left out", s28="left"),
    row("c", 3, TEN, s28="ten nine eight", s34="one two three four"),
]
MONOLINGUAL = [
    row("c", 1, FIVE, s28_s34="A B C D E.", s17="b a c d e"),
    row("c", 3, TEN, s28="one two three four five six seven eight nine zehn"),
]


def written(folder, rows):
    return write_table(folder / "0000.parquet", ScoredRow, rows)


@pytest.fixture
def compared(tmp_path, judges):
    paths = (written(tmp_path / "b", BILINGUAL), written(tmp_path / "m", MONOLINGUAL))
    return rewriting.compare([paths], ["s28", "s34"], judges, seed=1)


def test_both_systems_count_over_the_references_that_both_have(compared):
    found, _ = compared
    assert found["references"] == 2
    assert {name: each["references"] for name, each in found["variants"].items()} == {
        "s28": 2,
        "s34": 1,  # of the other reference the rewriter has no output
    }
    sides = found["variants"]["s34"]
    assert [sides[side]["outputs"] for side in ("bilingual", "monolingual")] == [1, 1]
    assert sides["bilingual"]["similarity"] == {"mean": 100.0, "deviation": None}
    assert sides["monolingual"]["copies"] == 1 and sides["bilingual"]["copies"] == 0


def test_means_deviations_and_bleu_are_those_of_the_outputs(compared):
    figures = compared[0]["variants"]["s28"]["bilingual"]
    pairs = [(FIVE, "a b c d x"), (TEN, "ten nine eight")]
    vectors = [Letters().encode(pair).astype(float) for pair in pairs]
    cosines = [100 * a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in vectors]
    assert figures["similarity"]["mean"] == pytest.approx(statistics.mean(cosines), abs=1e-3)
    assert figures["similarity"]["deviation"] == pytest.approx(statistics.stdev(cosines), abs=1e-3)
    assert figures["modified_bleu"] in (modified_bleu(pairs), modified_bleu(pairs[::-1]))
    five, ten, *others = figures["exact_lengths"]
    assert (five["length"], five["outputs"], ten["outputs"]) == (5, 1, 1)
    assert [each["outputs"] for each in others] == [0, 0]
    # The paper's deviation is over the lengths.
    lengths = figures["over_lengths"]
    assert lengths["lengths"] == 2
    bleus = [modified_bleu(pairs[:1]), modified_bleu(pairs[1:])]
    assert lengths["modified_bleu"]["mean"] == pytest.approx(statistics.mean(bleus), abs=1e-3)
    assert lengths["modified_bleu"]["deviation"] == pytest.approx(statistics.stdev(bleus), abs=1e-3)


def test_the_deviation_is_the_papers(data_dir):
    """Those of Table 6 agree with the lengths of Table 4, but for the sampled pairs."""
    folder = data_dir.parent / "papers" / "tables"
    if not folder.is_dir():
        pytest.skip(f"no tables of the papers in {folder}")
    lines = (folder / "parabank_table4.tsv").read_text("utf-8").splitlines()
    four = [line.split("\t") for line in lines]
    lines = (folder / "parabank_table6.tsv").read_text("utf-8").splitlines()
    header, *six = [line.split("\t") for line in lines]
    place = header.index("bleu_bilingual_sd")
    stated = {each[0]: float(each[place]) for each in six if each[0]}
    for measure, number, _, pair, *figures in four[1:]:
        if measure == "modified_bleu" and number in stated and pair == "cs-en":
            found = over([float(each) for each in figures[:4]])
            assert found["deviation"] == pytest.approx(stated[number], abs=1.0)


def test_the_pairs_of_the_bleu_follow_from_the_references_alone():
    outputs = [[Output(FIVE, text, 50.0, None)] for text in ("a b", "c d", "e")]
    one, other = Side(), Side()
    for number, each in enumerate(outputs):
        one.add(number / 10, each)
        other.add((2 - number) / 10, outputs[2 - number])
    assert one.result() == other.result()


def test_an_output_without_a_known_token_has_no_similarity():
    side = Side()
    side.add(0.5, [Output(FIVE, "?", math.nan, None), Output(FIVE, "a b", 40.0, None)])
    found = side.result()
    assert found["outputs"] == 2
    assert found["similarity"] == {"mean": 40.0, "deviation": None}


def test_exact_meaning_is_of_the_testbed_alone():
    text = "The cop probably tried the light out."
    rows = [
        row("testbed", 1, text, s28="Probably, the policeman tried the lamp out.", s34="Nonsense."),
        row("other", 2, text, s28="Probably, the policeman tried the lamp out."),
    ]
    judges = Judges(Models(encoder=Letters()), Checker(), ["testbed"])
    assert [[each.exact for each in found] for found in judges.outputs(rows)] == [
        [True, False],
        [None],
    ]
    side = Side()
    side.add(0.5, judges.outputs(rows)[0])
    assert side.result()["exact"] == 50.0


def test_a_reference_that_one_system_lacks_is_a_fault():
    with pytest.raises(InputError, match="reference c:1 is in one system alone"):
        list(beside(MONOLINGUAL, BILINGUAL[1:]))


def test_paraphrases_are_merged_over_variants_and_copies_left_out(compared):
    assert paraphrases(
        row("c", 1, "Hey, it's late.", s1="Hey, it's late", s2="It is late.", s3="it is late!")
    ) == ["It is late."]
    _, examples = compared
    assert {each["reference"]: each["paraphrases"] for each in examples} == {
        FIVE: ["b a c d e"],
        TEN: ["one two three four five six seven eight nine zehn"],
    }


@pytest.fixture
def shown(tmp_path, made_up_run, monkeypatch):
    """The made-up run in which `beam` was compared so, as its release reads it."""
    written(tmp_path / "b", BILINGUAL)
    written(tmp_path / "m", MONOLINGUAL)
    monkeypatch.setattr(rewriting, "encoder_folder", lambda: tmp_path)
    monkeypatch.setattr(rewriting, "load_encoder", lambda folder, device: Letters())
    output = tmp_path / "evaluate"
    output.mkdir()
    config = {"bilingual": {"parabank": ["s28", "s34"]}, "testbed": [], "seed": 1}
    files = {"scored": tmp_path / "m", "bilingual": f"parabank={tmp_path / 'b'}"}
    files["output"] = output / "rewriting.json"
    rewriting.main(arguments(config, shards=1, **files, device="cpu"))
    measures = json.loads(made_up_run.measures("beam").read_text("utf-8"))
    measures["config"] |= {"bilingual": config["bilingual"], "rewritten": True}
    (output / "measures.json").write_text(json.dumps(measures), encoding="utf-8")
    write_record(output / "evaluation", 0, 0, {}, files=[output / "measures.json"])
    return made_up_run.finished(more={"evaluate/beam": output}), output


def test_figures_stand_under_the_name_of_their_system(tmp_path, monkeypatch):
    """The JSON of the settings has sorted keys; the pairs of systems have an order of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rewriting, "encoder_folder", lambda: tmp_path)
    monkeypatch.setattr(rewriting, "load_encoder", lambda folder, device: Letters())
    config = merged(run_on_testbed(), at("shards.late", 1))
    config["run"]["systems"] = ["zebra", "able", "mono"]
    config["systems"] |= dict.fromkeys(config["run"]["systems"], config["systems"]["parabank2"])
    layout = Layout(config, STAGES)
    # No rewriter is behind `mono`: of the job it makes no difference, so none is checked.
    layout.config["evaluate"]["rewriting"] = [["zebra", "mono"], ["able", "mono"]]
    outputs = {"zebra": FIVE, "able": "v w x y z", "mono": "a b"}
    for name, text in outputs.items():
        written(Path(layout.folder("score", name)), [row("c", 1, FIVE, s28=text)])
    job = layout.stage(Evaluate).rewriting_job(SimpleNamespace(system="mono"))
    variants = {name: ["s28"] for name in layout.settings(("evaluate", "mono"))["bilingual"]}
    words = ["--config", canonical({"bilingual": variants, "testbed": [], "seed": 1})]
    options = {**job.options, "output": "rewriting.json", "device": "cpu"}
    rewriting.main([*words, *arguments(**options)])
    found = json.loads(Path("rewriting.json").read_text("utf-8"))["bilingual"]
    copies = {name: each["variants"]["s28"]["bilingual"]["copies"] for name, each in found.items()}
    assert copies == {"zebra": 1, "able": 0}


def test_tables_and_report_show_both_systems(shown):
    run, folder = shown
    found = json.loads((folder / "rewriting.json").read_text("utf-8"))["bilingual"]["parabank"]
    table = tables.rewriting(run)
    rows = table.frame().to_dict("records")
    assert len(rows) == 2 * 2 * (1 + 4 + 1)
    whole = rows[0]
    figures = found["variants"]["s28"]["bilingual"]
    assert (whole["variant"], whole["side"], whole["tokens"]) == ("s28", "bilingual", None)
    assert whole["similarity"] == figures["similarity"]["mean"]
    assert rows[5]["lengths"] == 2
    assert (
        rows[5]["modified_bleu_deviation"] == figures["over_lengths"]["modified_bleu"]["deviation"]
    )
    one = {"system": "beam", "reference": FIVE, "paraphrase": "b a c d e"}
    assert one in tables.rewritten(run).records
    (section,) = sections(["workflow_scripts.stages.evaluate.report:rewriting"], run)
    page = str(section.html)
    assert Reader(page).faults == []
    assert "parabank and beam, 2 references" in page and "<li>b a c d e</li>" in page
    assert f">{figures['modified_bleu']:.2f}<" in page


def test_the_papers_figures_have_the_names_of_ours(shown):
    run, _ = shown
    own = dict(quoted.MEASURES["bleu_bilingual"].of_run(run))
    quotes = {(each.row, each.measure): each.figure for each in quoted.shipped()}
    assert own.keys() == {"parabank s28", "parabank s34"}
    assert quotes["parabank s28", "bleu_bilingual"] == 33.9
    assert {*dict(quoted.MEASURES["similarity_monolingual"].of_run(run))} == {
        "beam s28",
        "beam s34",
    }
    assert quotes["parabank s34", "similarity_monolingual"] == 84.47


@pytest.mark.slow
def test_the_report_takes_systems_with_other_groups_of_references(made_up_run, tmp_path):
    measures = json.loads(made_up_run.measures("beam").read_text("utf-8"))
    groups = measures["groups"]
    groups["held_out"] = {**groups["held_out"], "references": groups["all"]["references"]}
    (tmp_path / "measures.json").write_text(json.dumps(measures), encoding="utf-8")
    write_record(tmp_path / "evaluation", 0, 0, {}, files=[tmp_path / "measures.json"])
    run = made_up_run.finished(more={"evaluate/beam": tmp_path})
    (section,) = sections(["workflow_scripts.stages.evaluate.report:diversity"], run)
    page = str(section.html)
    assert Reader(page).faults == []
    first, second = page.split("<h3>All (held-out) references</h3>")
    assert "<h3>All references</h3>" in first
    table = second.split("</table>")[0]
    assert ">beam<" in table and ">parabank2<" not in table
