import json
import math

import numpy as np
import pytest

from tests import tables
from tests.tables import write_table
from workflow_scripts.core.files.rows import JudgedRow, ReferenceScoreRow, ScoredRow
from workflow_scripts.stages.evaluate import coverage
from workflow_scripts.stages.evaluate import tables as evaluate_tables
from workflow_scripts.stages.evaluate.bounds import curve, own_quantiles, sampled
from workflow_scripts.stages.evaluate.diversity import diversity
from workflow_scripts.stages.select.probability import ProbabilityBound


def candidate(text, total, forward=0.5):
    return tables.candidate(text, forward, None if total is None else total - forward)


def row(number, reference, *candidates):
    return tables.pair(f"c:{number}", reference=reference) | {"candidates": list(candidates)}


ROWS = [
    row(
        0,
        "the old dog sleeps in the house",
        candidate("The old dog sleeps in the house!", 0.5),
        candidate("the old dog is asleep in the house", 1.0),
        candidate("an aged dog sleeps at home", 2.5),
    ),
    row(1, "a man rides a small bike", candidate("a man rides a little bike", 1.5)),
    row(2, "nothing was found here today"),
]


def by_bound(found):
    return {each["max_sum"]: each for each in found["bounds"]}


def test_each_bound_keeps_what_is_not_above_it():
    found = curve(ROWS, [0.4, 0.5, 1.0, 2.0, 2.5])
    assert (found["references"], found["candidates"]) == (3, 4)
    kept = {bound: each["kept"] for bound, each in by_bound(found).items()}
    assert kept == {0.4: 0, 0.5: 1, 1.0: 2, 2.0: 3, 2.5: 4}
    # The copy is kept, but is no paraphrase.
    covered = {bound: each["references"] for bound, each in by_bound(found).items()}
    assert covered == {0.4: 0, 0.5: 0, 1.0: 1, 2.0: 2, 2.5: 2}


def test_the_difference_is_that_of_all_candidates_within_the_bound():
    found = by_bound(curve(ROWS, [0.5, 1.0, 2.0, 9.0]))
    assert found[0.5]["one_minus_bleu"] is None
    pairs = [(each["reference"], one) for each in ROWS for one in each["candidates"]]
    for bound in (1.0, 2.0, 9.0):
        within = [(text, one["text"]) for text, one in pairs if 0.5 < one["sum"] <= bound]
        expected = diversity(within)["one_minus_bleu"]
        assert found[bound]["one_minus_bleu"] == pytest.approx(expected)


def test_bounds_end_where_pruned_candidates_might_be():
    rows = [row(0, "a b c", candidate("a b", 1.0), candidate("b c", None, forward=2.0))]
    found = curve(rows, [1.0, 2.0, 2.1])
    assert [each["max_sum"] for each in found["bounds"]] == [1.0, 2.0]
    assert found["candidates"] == 2


def test_a_text_that_the_backward_model_cannot_read_is_within_no_bound():
    found = curve([row(0, "a b c", candidate("a b", math.inf))], [1.0, 10.0])
    assert [each["kept"] for each in found["bounds"]] == [0, 0]
    assert found["candidates"] == 1


def test_nothing_at_all():
    assert curve([], [1.0]) == {
        "references": 0,
        "candidates": 0,
        "bounds": [{"max_sum": 1.0, "kept": 0, "references": 0, "one_minus_bleu": None}],
    }


def write_own(path, sums, corpora):
    rows = (
        {"id": f"{corpus}:{number}", "corpus": corpus, "forward_nll": 0.0}
        | dict.fromkeys(("backward_nll", "sum"), float(total))
        for number, (total, corpus) in enumerate(zip(sums, corpora, strict=True))
    )
    write_table(path, ReferenceScoreRow, rows)


def test_quantiles_of_the_references_equal_numpy_in_each_group(tmp_path):
    own = np.random.default_rng(1).gamma(3.0, 1.0, 501).astype(np.float32)
    corpora = np.array(["seen", "other"])[np.arange(501) % 2]
    parts = [tmp_path / "0000.parquet", tmp_path / "0001.parquet"]
    write_own(parts[0], own[:200], corpora[:200])
    write_own(parts[1], own[200:], corpora[200:])
    for group, values in ((None, own), ({"seen"}, own[corpora == "seen"])):
        found = own_quantiles(parts, group)
        assert (found["references"], found["unreadable"]) == (len(values), 0)
        for each in found["quantiles"]:
            expected = np.quantile(values, each["quantile"], method="inverted_cdf")
            assert each["max_sum"] == expected


def test_references_that_cannot_be_read_are_above_every_bound(tmp_path):
    write_own(tmp_path / "0000.parquet", [1.0, math.inf, 2.0, math.inf], ["c"] * 4)
    found = own_quantiles([tmp_path / "0000.parquet"], None)
    assert (found["references"], found["unreadable"]) == (4, 2)
    quantiles = {each["quantile"]: each["max_sum"] for each in found["quantiles"]}
    assert (quantiles[0.25], quantiles[0.5], quantiles[0.75]) == (1.0, 2.0, None)
    nobody = own_quantiles([tmp_path / "0000.parquet"], {"d"})
    assert nobody["references"] == 0
    assert {each["max_sum"] for each in nobody["quantiles"]} == {None}


def drawn(paths, seed):
    return [each["id"] for each in sampled(paths, seed, ScoredRow, 5)]


def test_the_sample_depends_on_ids_alone(tmp_path):
    rows = [row(number, "a b c", candidate("a", 1.0)) for number in range(20)]
    parts = (("whole", rows), ("first", rows[:7]), ("second", rows[7:]))
    whole, *halves = (
        write_table(tmp_path / f"{name}.parquet", ScoredRow, part) for name, part in parts
    )
    whole = drawn([whole], 1)
    assert drawn(halves, 1) == whole
    assert len(whole) == 5
    assert drawn(halves, 2) != whole


def test_each_bound_on_the_probability_selects_anew(tmp_path):
    rows = [
        row(0, "a b c", candidate("d e f", 1.0), candidate("g h i", 1.5), candidate("j k l", 9.0)),
        row(1, "a b c", candidate("m n", 1.0)),
        row(2, "a b c"),
    ]
    known = [[0.9, 0.45, 0.99], [0.3], []]
    judged = [
        {"id": each["id"], "probabilities": probabilities}
        for each, probabilities in zip(rows, known, strict=True)
    ]
    write_table(tmp_path / "0000.parquet", ScoredRow, rows)
    write_table(tmp_path / "judged.parquet", JudgedRow, judged)
    found = coverage.curve(
        coverage.judged_rows([tmp_path / "0000.parquet"], [tmp_path / "judged.parquet"], 1),
        {"method": "nbest", "best": 2, "judge": "mine", "language": "en"},
        2.0,
        ProbabilityBound([2], [0.2, 0.5]),
        str.split,
    )
    assert found["references"] == 3
    told = {each["probability"]: each for each in found["bounds"]}
    assert [*told] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert (told[0.1]["covered"], told[0.1]["paraphrases"]) == (2, 3)
    assert told[0.1]["expected_good"] == pytest.approx(55, abs=1e-4)
    assert told[0.4]["expected_good"] == pytest.approx(67.5, abs=1e-4)
    assert (told[0.5]["covered"], told[0.5]["expected_good"]) == (1, pytest.approx(90, abs=1e-4))
    # The references have three words: the second bound is theirs.
    assert found["used"] == told[0.5] | {"probability": None}


def test_the_used_bound_is_measured_too(made_up_run):
    for system in made_up_run.systems:
        found = json.loads(made_up_run.bounds(system).read_text())
        assert found["used"] == 3.5
        assert 3.5 in by_bound(found)
        for each in found["own"]["all"]["quantiles"]:
            assert each["max_sum"] in by_bound(found)


@pytest.mark.slow
def test_the_report_has_a_row_for_each_quantile_of_the_references(made_up_run):
    page = made_up_run.section("workflow_scripts.stages.evaluate.report:bounds")
    for system in made_up_run.systems:
        found = json.loads(made_up_run.bounds(system).read_text())
        for each in found["own"]["all"]["quantiles"]:
            figures = by_bound(found)[each["max_sum"]]
            assert f">{each['max_sum']:.3f}" in page
            assert f">{figures['kept']} <" in page
            assert f">{figures['one_minus_bleu']:.2f}<" in page
    assert '3.500 <span class="interval">used</span>' in page
    assert "held-out" in page


def test_the_table_of_the_release_has_every_bound(made_up_run):
    found = evaluate_tables.bounds(made_up_run.finished())
    expected = [
        json.loads(made_up_run.bounds(system).read_text()) for system in made_up_run.systems
    ]
    assert len(found.records) == sum(len(each["bounds"]) for each in expected)
    named = found.frame().to_dict("records")
    for each in named:
        assert (each["quantile"] is not None) or each["max_sum"] == round(each["max_sum"], 1)
