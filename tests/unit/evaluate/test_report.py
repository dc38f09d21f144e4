import json
from dataclasses import replace

import pytest

from tests.unit.evaluate.test_plots import PRECISION
from tests.unit.pages import Reader, captioned, rows_of
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.plan.catalogues import pools
from workflow_scripts.stages.evaluate import report
from workflow_scripts.stages.evaluate.report import matrix

SECTIONS = "workflow_scripts.stages.evaluate.report"


@pytest.fixture(scope="module")
def diversity(made_up_run):
    return made_up_run.section(f"{SECTIONS}:diversity")


@pytest.fixture(scope="module")
def statistics(made_up_run):
    return made_up_run.section(f"{SECTIONS}:statistics")


@pytest.mark.slow
def test_figures_are_those_of_the_measures(diversity, made_up_run):
    for system in made_up_run.systems:
        groups = json.loads(made_up_run.measures(system).read_text())["groups"]
        for group in groups.values():
            for rank in group["ranks"]:
                assert f">{rank['one_minus_bleu']:.2f} " in diversity
                assert f">{rank['pieces']['intersection_over_union']:.2f}<" in diversity


def test_statistics_of_every_system(statistics, made_up_run):
    for system in made_up_run.systems:
        found = json.loads(made_up_run.statistics(system).read_text())
        for side in found["sides"].values():
            assert f">{side['entropy']['trigrams']:.2f}<" in statistics
        length = f">{found['correlations']['told']['length']:.2f}<"
        assert length.replace("-", "\u2212") in statistics
        assert f"{system}: pairs by score" in statistics


def test_classifiers_of_every_system(statistics, made_up_run):
    rows = rows_of(captioned(statistics, "How well classifiers tell"))[1:]
    assert [row[0] for row in rows] == list(made_up_run.systems)
    expected = ["told", "test", "5,000", "72.2", "64.0", "80.4", "hardest", "1e-06"]
    assert all(row[1:] == expected for row in rows)


def test_measures_by_length_of_the_reference(diversity, made_up_run):
    part = diversity[diversity.index("By length of the reference") :]
    part = part[: part.index("</table>")]
    for heading in ("0 to 5", "6 to 10", "11 to 20", "21 to 40", "over 40"):
        assert f">{heading}</th>" in part
    for system in made_up_run.systems:
        groups = json.loads(made_up_run.measures(system).read_text())["groups"]
        for each in groups["all"]["by_length"]:
            assert f">{each['references']}</td>" in part
            for rank in (each["ranks"][0], each["ranks"][-1]):
                if rank["pairs"]:
                    assert f">{rank['one_minus_bleu']:.2f}</td>" in part


def test_parse_entropies_are_those_of_the_statistics(statistics, made_up_run):
    sides = json.loads(made_up_run.statistics("parabank2").read_text())["sides"]
    for side in (sides[name]["parse_entropy"] for name in ("references", "paraphrases")):
        assert side["trees"] > 1
        shown = f'{side["entropy"]:.2f} <span class="interval">{side["trees"]} trees</span>'
        assert f'<td class="number">{shown}</td>' in statistics
    unparsed = made_up_run.section(f"{SECTIONS}:statistics", systems=["beam"])
    assert " trees</span>" not in unparsed


@pytest.mark.slow
def test_tree_edit_distances_are_those_of_the_measures(diversity, made_up_run):
    groups = json.loads(made_up_run.measures("parabank2").read_text())["groups"]
    for group in groups.values():
        for rank in group["syntax"]["ranks"]:
            interval = rank["interval"]
            shown = f'{rank["tree_edit_distance"]:.2f} <span class="interval">'
            assert f">{shown}{interval['low']:.2f} to {interval['high']:.2f}<" in diversity
        assert f">{group['syntax']['without_trees']}<" in diversity
    for pair in groups["all"]["syntax"]["between"]:
        ranks = f"<td>{pair['first']}, {pair['second']}</td>"
        assert f'{ranks}<td class="number">{pair["tree_edit_distance"]:.2f}</td>' in diversity
    unparsed = made_up_run.section(f"{SECTIONS}:diversity", systems=["beam"])
    assert "Tree edit distance" not in unparsed


def test_cost_and_gain_of_every_system(made_up_run, monkeypatch):
    measures = {
        system: json.loads(made_up_run.measures(system).read_text())
        for system in made_up_run.systems
    }
    good = {"share": 61.25, "low": 58.0, "high": 64.5}
    measures["beam"]["groups"]["all"]["gain"]["expected_good"] = good
    measures["beam"]["precision"] = PRECISION
    monkeypatch.setattr(report, "all_measures", lambda run: measures)
    systems = made_up_run.config["systems"]
    pool = {**systems["beam"], "sources": {"written": 2}}
    written = pools.written_unit(pool)
    for stage, instance, name, seconds in (
        *(("score", "beam", "0000", "50.5"), ("score", "beam", "0001", "9.5")),
        *(("score", "beam", "manifest", "NA"), ("generate", "beam", "0000", "24")),
        ("generate", written, "0000", "12"),
    ):
        folder = made_up_run.folder(stage, instance)
        jobs = folder.parents[2] / "benchmarks" / stage / instance / folder.name
        write_text(jobs / f"{name}.tsv", f"s\th:m:s\tcpu_time\n70\t0:01:10\t{seconds}\n")
    run = replace(made_up_run, config={**made_up_run.config, "systems": {**systems, "beam": pool}})
    units = [("generate", instance) for instance in ("beam", written)]
    more = {f"{stage}/{instance}": run.folder(stage, instance) for stage, instance in units}
    section = run.section(f"{SECTIONS}:cost_and_gain", more=more)
    assert Reader(section).faults == []
    _, first, second = rows_of(captioned(section, "What each system gives"))
    assert first[0] == "parabank2" and first[6].endswith("no judge")
    assert first[8].endswith("not measured")
    gain = measures["beam"]["groups"]["all"]["gain"]
    assert second[3] == str(gain["paraphrases"]) and second[4].split()[0] == str(gain["different"])
    assert (second[6], second[8]) == ("61.2 % 58.0 to 64.5", "0.80generate 0.30, score 0.50")
    assert section.count("<svg") == 1
    monkeypatch.setattr(report, "all_measures", lambda run: {"parabank2": measures["parabank2"]})
    assert "<svg" not in made_up_run.section(f"{SECTIONS}:cost_and_gain")


def test_between_ranks():
    pair = {"pairs": 4, "one_minus_bleu": 60.0, "words": {"intersection_over_union": 30.0}}
    group = {"between": [{"first": 1, "second": 2, **pair}]}
    assert matrix(group, 2) == [[None, 60.0], [30.0, None]]
    assert matrix({"between": [{"first": 1, "second": 2, "pairs": 0}]}, 2) == [[None] * 2] * 2


@pytest.mark.slow
def test_a_histogram_of_every_system_with_its_threshold(made_up_run):
    scores = made_up_run.section(f"{SECTIONS}:scores")
    assert scores.count("<svg") == len(made_up_run.systems)
    assert scores.count("threshold 3.5") == len(made_up_run.systems)
    assert "lower is better" in scores
    assert Reader(scores).faults == []


def test_quality_on_the_testbed_alone(made_up_run):
    quality = made_up_run.section(f"{SECTIONS}:quality")
    assert Reader(quality).faults == []
    groups = json.loads(made_up_run.measures("parabank2").read_text())["groups"]
    for name in ("all", "held_out"):
        for rank in groups[name]["testbed"]["ranks"]:
            assert f">{rank['share']:.1f} %<" in quality
    assert "beam" not in quality
    assert made_up_run.section(f"{SECTIONS}:quality", systems=["beam"]) is None


def test_right_answers_of_every_system(made_up_run):
    answers = made_up_run.section(f"{SECTIONS}:answers")
    assert Reader(answers).faults == []
    for system in made_up_run.systems:
        found = json.loads(made_up_run.answers(system).read_text())
        assert (found["prompts"], found["found"]) == (2, 1)
        for name in ("precision", "weighted_recall", "weighted_macro_f1"):
            assert f">{found[name]:.3f}<" in answers
    assert '1 <span class="interval">50.0 %</span>' in answers
    assert answers.count(">100.0 %</td>") == 2 * len(made_up_run.systems)
