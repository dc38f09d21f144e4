import json

import pytest

from workflow_scripts.stages.evaluate import tables


def as_text(table):
    """The rows of a table as its file has them."""
    shown = table.frame().map(lambda value: "" if value is None else str(value))
    return shown.to_dict("records")


@pytest.fixture(scope="module")
def found(made_up_run):
    run = made_up_run.finished()
    names = ("diversity", "between_ranks", "lengths", "statistics", "bins", "answers")
    return {name: as_text(getattr(tables, name)(run)) for name in (*names, "classifiers")}


def test_figures_are_those_of_the_measures_in_full(made_up_run, found):
    for system in made_up_run.systems:
        for name, group in json.loads(made_up_run.measures(system).read_text())["groups"].items():
            own = {"system": system, "references": name}
            picked = {
                key: [row for row in found[key] if row.items() >= own.items()]
                for key in ("diversity", "between_ranks", "lengths")
            }
            for rank, row in zip(group["ranks"], picked["diversity"], strict=True):
                assert row["one_minus_bleu"] == str(rank["one_minus_bleu"])
                assert row["high"] == str(rank["interval"]["high"])
                assert row["length_ratio"] == str(rank["words"]["length_ratio"])
            for pair, row in zip(group["between"], picked["between_ranks"], strict=True):
                words = pair["words"]["intersection_over_union"]
                assert (row["first"], row["second"]) == (str(pair["first"]), str(pair["second"]))
                assert row["intersection_over_union"] == str(words)
            parts = [(part, rank) for part in group["by_length"] for rank in part["ranks"]]
            for (part, rank), row in zip(parts, picked["lengths"], strict=True):
                assert row["to"] == ("" if part["to"] is None else str(part["to"]))
                assert row["number"] == str(part["references"])
                assert (row["rank"], row["listed"]) == (str(rank["rank"]), str(rank["listed"]))
            syntax = group["syntax"]
            first = picked["diversity"][0]["tree_edit_distance"]
            assert first == (str(syntax["ranks"][0]["tree_edit_distance"]) if syntax else "")


def test_accuracies_of_classifiers(made_up_run, found):
    assert [row["system"] for row in found["classifiers"]] == list(made_up_run.systems)
    assert found["classifiers"][0] | {"system": ""} == {
        **{"system": "", "column": "told", "data": "test", "pairs": "5000"},
        **{"accuracy": "0.722", "references": "0.6401", "paraphrases": "0.8039"},
        **{"negatives": "hardest", "l2": "1e-06"},
    }


def test_statistics_by_their_place(made_up_run, found):
    given = json.loads(made_up_run.statistics("beam").read_text())
    own = {row["figure"]: row for row in found["statistics"] if row["system"] == "beam"}
    entropy = given["sides"]["paraphrases"]["entropy"]["trigrams"]
    assert own["sides.paraphrases.entropy.trigrams"]["value"] == str(entropy)
    length = given["sides"]["references"]["length"]
    assert own["sides.references.length"] == {
        **{"system": "beam", "figure": "sides.references.length"},
        **{"value": str(length["mean"]), "deviation": str(length["deviation"])},
        "count": str(length["count"]),
    }
    bins = [row for row in found["bins"] if row["system"] == "beam"]
    assert [row["up_to"] for row in bins] == ["0.2", "0.4", "0.6", "0.8", "1.0"]
    assert [row["pairs"] for row in bins] == [str(each["count"]) for each in given["bins"]["score"]]


def test_right_answers_of_all_ranks_and_of_each(made_up_run, found):
    for system in made_up_run.systems:
        given = json.loads(made_up_run.answers(system).read_text())
        total, *ranks = (row for row in found["answers"] if row["system"] == system)
        assert total["weighted_recall"] == str(given["weighted_recall"]) == "0.375"
        assert (total["prompts"], total["found"], total["rank"]) == ("2", "1", "")
        assert (total["right"], total["paraphrases"]) == ("2", str(len(ranks)))
        assert [row["right"] for row in ranks[:3]] == ["1", "0", "1"]
        for row in ranks:
            assert row["precision"] == str(given["by_rank"][row["rank"]]["share"])
            assert row["weighted_macro_f1"] == ""


def test_ranks_of_right_answers_stand_in_the_order_of_numbers(monkeypatch):
    """Those of a JSON file stand in that of texts."""
    ranks = {rank: {"right": 1, "paraphrases": 2, "share": 0.5} for rank in ("1", "10", "2")}
    monkeypatch.setattr(tables, "all_measures", lambda run, file: {"beam": {"by_rank": ranks}})
    assert [row["rank"] for row in tables.answers(None).records] == [None, "1", "2", "10"]
