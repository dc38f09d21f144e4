"""Figures of other work beside those of a run."""

import csv
import re

import pytest

from tests import paper_tables
from tests.unit.embed.sts_example import STS, TRAINING_SETS
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.embed import results
from workflow_scripts.stages.embed.sts_tables import models
from workflow_scripts.stages.evaluate.results import all_measures
from workflow_scripts.stages.release import quoted

SECTION = "workflow_scripts.stages.release.quoted:papers"


def test_the_shipped_figures_are_those_of_the_papers(data_dir):
    folder = data_dir.parent / "papers" / "tables"
    if not folder.is_dir():
        pytest.skip(f"no tables of the papers in {folder}")
    others = paper_tables.others()
    assert paper_tables.shipped() == [*paper_tables.tidy(folder), *others]
    texts = {
        paper: (folder.parent / f"{paper}.txt").read_text(encoding="utf-8").replace(", ", ",")
        for paper in quoted.PAPERS
    }
    for paper, _, row, _, figure in others:
        printed = f"{int(figure):,}" if figure.isdigit() else figure
        assert re.search(rf"(?<![\d.]){re.escape(printed)}(?!\d)", texts[paper]), (paper, row)


def test_every_shipped_figure_has_a_measure_or_a_line_on_its_page(tmp_path):
    assert paper_tables.without_measure() == []
    for paper in quoted.PAPERS:
        page = (paper_tables.PAGES / f"{paper}.md").read_text(encoding="utf-8")
        (tmp_path / f"{paper}.md").write_text(page.replace("`spread`", ""), encoding="utf-8")
    assert paper_tables.without_measure(tmp_path) == ["parabank2: spread"]


def test_every_shipped_table_says_section_data_and_models():
    with quoted.TABLES.open(encoding="utf-8", newline="") as stream:
        told = {(row["paper"], row["table"]): row for row in csv.DictReader(stream, delimiter="\t")}
    with quoted.FIGURES.open(encoding="utf-8", newline="") as stream:
        used = {(row["paper"], row["table"]) for row in csv.DictReader(stream, delimiter="\t")}
    assert told.keys() == used
    assert all(all(row.values()) for row in told.values())


# --- beside a run ------------------------------------------------------------------------------


def shown(run, config=None):
    """Return what the section shows."""
    finished = run.finished()
    finished.config = {**finished.config, **(config or {})}
    return quoted.papers(finished)


def rows(found, title):
    (measure,) = [each for each in found["measures"] if each["title"] == title]
    return {row["name"]: row for row in measure["rows"]}


def source(found, number):
    return next(text for each, text, _ in found["sources"] if each == number)


def test_a_system_of_a_paper_stands_beside_the_papers_figure(run):
    found = shown(run)
    table = rows(found, "1-BLEU")
    first = table["parabank2, rank 1"]
    assert first["own"] is not None
    assert [figure for figure, _ in first["quoted"]] == [75.83]
    assert source(found, first["quoted"][0][1]) == "Hu et al., CoNLL 2019, Table 1 (3.5 and 3.6)"
    assert table["beam, rank 1"]["quoted"] == []
    assert table["parabank s17"] == {
        "name": "parabank s17",
        "own": None,
        "quoted": [(62.85, first["quoted"][0][1])],
    }


def test_statistics_stand_beside_those_of_the_papers(run):
    found = shown(run)
    assert rows(found, "Mean length of references")["CzEng 1.6"]["quoted"][0][0] == 13.3
    trigrams = rows(found, "Repeated trigrams (%), reference minus candidate")
    assert trigrams["All"]["quoted"][0][0] == -2.26
    assert trigrams["beam, difference"]["own"] is not None


def test_ranks_against_each_other_stand_beside_table_2(run):
    found = shown(run)
    for title, figure in (
        ("1-BLEU", 64.16),
        ("Intersection over union of pieces, x 100", 52.77),
        ("Tree edit distance", 5.51),
    ):
        table = rows(found, title)
        pair = table["parabank2, rank 1 against parabank2, rank 3"]
        assert pair["own"] is not None
        assert [each for each, _ in pair["quoted"]] == [figure]
        assert "Table 2" in source(found, pair["quoted"][0][1])
        assert "parabank2, rank 1 against parabank2, rank 2" not in table
    own = run.finished()
    (measured,) = [
        each
        for each in all_measures(own)["parabank2"]["groups"]["all"]["between"]
        if (each["first"], each["second"]) == (1, 3)
    ]
    bleu = rows(found, "1-BLEU")["parabank2, rank 1 against parabank2, rank 3"]["own"]
    assert bleu == measured["one_minus_bleu"]


def test_oracles_stand_beside_those_of_table_2(monkeypatch):
    told = {"max": 1.0, "rank 1": 2.0, "max against min": 3.0}
    of_run = lambda run: [(f"parabank2, {row}", value) for row, value in told.items()]  # noqa: E731
    monkeypatch.setattr(quoted, "_rated", lambda name: of_run)
    found = dict(quoted._oracles("one_minus_bleu")(None))
    assert found == {"parabank2, max": 1.0, "parabank2, max against parabank2, min": 3.0}
    theirs = {figure.row for figure in quoted.shipped() if "Table 2" in figure.source}
    assert theirs >= {*found, "parabank s17 against parabank s34"} - {"parabank2, max"}


def test_models_and_corpora_stand_beside_those_of_the_papers(run):
    found = shown(run)
    bleu = rows(found, "BLEU of the translation models")
    assert bleu["forward"]["own"] == 31.25
    assert bleu["cs-en"]["quoted"][0][0] == 19.7
    pairs = rows(found, "Pairs of the corpora")
    assert pairs["news"]["own"] == run.finished().manifest("corpus", "news")["rows_out"]
    assert pairs["CzEng cs"]["quoted"][0][0] == 14_700_000
    number = pairs["CzEng 1.7"]["quoted"][0][1]
    assert source(found, number) == "Hu et al., CoNLL 2019, section 3.1"
    lengths = rows(found, "Mean length of references: its standard deviation")
    assert lengths["CzEng 1.6"]["quoted"][0][0] == 19.3


def test_encoders_stand_beside_tables_4_and_5(run, monkeypatch):
    figures = {"plain": {"value": 0.8}, "tuned": {"value": 0.9}, "encoder": "mine"}
    records = [
        {"task": "MRPC", "part": "dev", "measure": "f1", **figures},
        {"task": "SQuAD", "part": "dev", "measure": "exact_NoAns", **figures},
        {"task": "SQuAD", "part": "dev", "measure": "f1_NoAns", **figures},
        {"task": "MRPC", "part": "train", "measure": "f1", **figures},
    ]
    monkeypatch.setattr(quoted, "encoder_tasks_table", lambda run: Table("", records))
    found = shown(run)
    pairs = rows(found, "Encoders, MRPC, f1 x 100")
    assert {name: row["own"] for name, row in pairs.items()} == {
        **{"mine, plain": 80.0, "mine, tuned": 90.0, "BERT": None, "pBERT": None}
    }
    assert pairs["pBERT"]["quoted"][0][0] == 86.55
    spans = rows(found, "Encoders, SQuAD, exact_NoAns x 100")
    assert spans["BERT"]["quoted"][0][0] == 71.44


def test_systems_without_variants_have_a_modified_bleu(run):
    table = rows(shown(run), "Modified BLEU")
    exact = all_measures(run.finished())["beam"]["groups"]["all"]["exact_lengths"]
    (ten,) = [each for each in exact if each["length"] == 10]
    assert table["beam, rank 1, length 10"]["own"] == ten["ranks"][0]["modified_bleu"]
    assert "beam, rank 1, mean of lengths" not in table  # no reference has 40 tokens
    assert [each for each, _ in table["paranmt, rank 1, length 10"]["quoted"]] == [25.49]


def test_classifiers_and_bins_stand_beside_those_of_the_papers(run):
    found = shown(run)
    statistics = all_measures(run.finished(), "statistics")["beam"]
    told = statistics["classifiers"]["told"]
    assert told["data"] == "test"
    table = rows(found, "Classifiers, accuracy (%) of references")
    assert table["beam, told"]["own"] == pytest.approx(100 * told["references"])
    assert table["LSTM cs CC"]["quoted"][0][0] == 72.2
    correlations = next(each for each in found["measures"] if each["title"].startswith("Spearman"))
    named = {row["name"]: row for row in correlations["rows"]}
    assert named["beam, told, idf"]["own"] == pytest.approx(
        100 * statistics["correlations"]["told"]["idf"]
    )
    assert named["Average IDF"]["quoted"][0][0] == 27.8
    overlaps = rows(found, "Mean trigram overlap by paraphrase score")
    assert overlaps["beam, score, up to 0.6"]["own"] == statistics["bins"]["score"][2]["mean"]
    assert overlaps["0.4 to 0.6"]["quoted"][0][0] == 0.07


def test_accuracies_on_validation_sentences_are_not_the_papers(run, monkeypatch):
    statistics = all_measures(run.finished(), "statistics")
    for each in statistics.values():
        each["classifiers"]["told"]["data"] = "validation"

    def told(run, file="measures"):
        return statistics if file == "statistics" else all_measures(run, file)

    monkeypatch.setattr(quoted, "all_measures", told)
    titles = [each["title"] for each in shown(run)["measures"]]
    assert titles and not any(title.startswith("Classifiers") for title in titles)


def test_a_measure_that_is_not_the_same_is_not_shown(run):
    """Overlap of multisets, which earlier versions counted, is not the paper's, of sets."""
    table = rows(shown(run), "Intersection over union of pieces, x 100")
    assert table["parabank2, rank 1"]["quoted"][0][0] == 37.75
    assert quoted._of_sets({"intersection_over_union": 40.0}) is None
    both = {"intersection_over_union": 40.0, "intersection_over_union_bags": 38.0}
    assert quoted._of_sets(both) == 40.0


def test_figures_of_english_are_not_shown_beside_another_language(run):
    assert shown(run, {"languages": {"source": "en", "reference": "pt"}}) is None


def test_own_quotations_are_shown_and_those_without_a_measure_are_told(run):
    mine = {"Doe 2020": {"Table 1": {"Theirs": {"one_minus_bleu": 55.5, "one_minus_blue": 1.0}}}}
    found = shown(run, {"quoted": mine, "languages": {"source": "en", "reference": "pt"}})
    assert rows(found, "1-BLEU")["Theirs"]["quoted"][0][0] == 55.5
    assert [(each.row, each.measure) for each in found["unused"]] == [("Theirs", "one_minus_blue")]


def test_the_page_has_a_column_of_its_own_and_says_what_differs(run):
    html = run.section(SECTION)
    assert "<th" in html and "this run" in html and "quoted" in html
    assert (
        "data: 376 references of CzEng, two runs; models: Transformers of 12 and 6 layers" in html
    )


# --- tests of embeddings -------------------------------------------------------------------------


def of_sts(sts):
    found = results.Tested(
        sts, dict.fromkeys(TRAINING_SETS), models(sts, TRAINING_SETS, ["word", "trigram"])
    )
    return {name: measure.of_run(None) for name, measure in quoted._of_sts(found).items()}


def test_years_and_data_sets_of_the_test_stand_beside_those_of_other_work():
    found = of_sts(STS)
    assert dict(found["2012"])["word, cost-beam-1"] == 65.0
    assert dict(found["2012.spearman"])["word, cost-beam-1"] == 55.0
    assert "sick.test" in found
    assert "2013" not in found  # one of its data sets is missing
    assert "22 tasks" not in found
    assert "word against trigram, cost-beam-1" in dict(found["mean_pearson_abs_diff"])


def test_the_mean_of_22_tasks_is_that_of_all_22():
    overlap = {**STS["overlap"], "bt2017": {**STS["overlap"]["bt2017"], "data_sets": 22}}
    assert dict(of_sts({**STS, "overlap": overlap})["22 tasks"])["word, all-beam"] == 80.0
