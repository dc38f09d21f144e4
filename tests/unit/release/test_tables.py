import csv
import json

import pytest

from tests.unit.release.sts_example import QUOTED, STS, TRAINING_SETS
from workflow_scripts.core.atomic import write_json
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import verify
from workflow_scripts.release import embedding_tables
from workflow_scripts.release.sts_tables import models, quotations
from workflow_scripts.release.table import Table, tsv
from workflow_scripts.release.tables import main

MODELS = models(STS, TRAINING_SETS, ["word", "trigram"])
WITHOUT = {"diversity", "between_ranks", "lengths", "statistics", "bins"}


def write(run, output, *more):
    arguments = ["--config", json.dumps({**run.config, "quoted": QUOTED})]
    arguments += ["--measures", *(f"{system}={run.measures(system)}" for system in run.systems)]
    arguments += ["--statistics", *(f"{each}={run.statistics(each)}" for each in run.systems)]
    main([*arguments, *more, "--output", str(output)])
    return {path.stem: rows(path) for path in output.glob("*.tsv")}


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def found(run, embedded, tmp_path_factory):
    return write(run, tmp_path_factory.mktemp("tables"), *embedded)


def as_rows(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_fields_never_hold_what_ends_them():
    table = Table(("a", "b"), [("x\ty\n", None), (1.5, "\\")])
    assert tsv(table) == "a\tb\nx\\ty\\n\t\n1.5\t\\\\\n"


def test_embeddings_have_tables_where_there_are_some(run, found, tmp_path):
    assert found.keys() == WITHOUT | {"sts", "sts_data_sets", "sts_gains", "sts_differences"}
    assert write(run, tmp_path).keys() == WITHOUT
    assert verify(tmp_path / "tables")["files"].keys() == {f"{name}.tsv" for name in WITHOUT}


def test_the_same_bytes_again(run, embedded, tmp_path):
    for name in ("one", "other"):
        write(run, tmp_path / name, *embedded)
    for path in (tmp_path / "one").iterdir():
        assert (tmp_path / "other" / path.name).read_bytes() == path.read_bytes()


def test_figures_are_those_of_the_measures_in_full(run, found):
    for system in run.systems:
        for name, group in json.loads(run.measures(system).read_text())["groups"].items():
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


def test_statistics_by_their_place(run, found):
    given = json.loads(run.statistics("beam").read_text())
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


def test_a_row_for_each_embedding_and_training_set():
    first, *_, last = as_rows(embedding_tables.sts_models(STS, MODELS, TRAINING_SETS))
    assert first == {
        **{"training_set": "cost-beam-1", "system": "beam", "pairs": 1200, "embedding": "word"},
        "chosen_by": "rank 1 to 2; sum ≤ 3.5; part 1 of 2 by translation_cost",
        **{"seeds": 2, "trained_pearson": 65.0, "trained_pearson_deviation": 7.0711},
        **{"trained_spearman": 55.0, "trained_spearman_deviation": 7.0711},
        **{"untrained_pearson": 40.0, "untrained_pearson_deviation": 0.0},
        **{"untrained_spearman": 30.0, "untrained_spearman_deviation": 0.0},
        **{"overlap_pearson": 60.0, "overlap_spearman": 50.0},
    }
    assert (last["embedding"], last["trained_pearson_deviation"]) == ("trigram", None)


def test_every_data_set_year_and_mean_with_what_others_reached():
    found = as_rows(embedding_tables.sts_data_sets(STS, MODELS, quotations({"quoted": QUOTED})))
    data = list(dict.fromkeys(row["data"] for row in found))
    assert data == [*STS["pairs"], "2012", "2013", "mean"]
    kinds = [row["kind"] for row in found if row["data"] == "2012"]
    assert kinds == ["overlap", *["trained", "untrained"] * 4, "quoted"]
    quoted = {(row["data"], row["embedding"]): row for row in found if row["kind"] == "quoted"}
    assert {key: row["pearson"] for key, row in quoted.items()} == {
        ("2012.MSRvid", "Theirs"): 33.3,
        ("sick.test", "Theirs"): 77.7,
        ("sick.test", "Others"): 88.8,
        ("2012", "Theirs"): 66.6,
    }
    assert quoted["2012", "Theirs"]["source"] == "Doe 2020, Table 1"
    trained = next(row for row in found if (row["data"], row["kind"]) == ("sick.test", "trained"))
    assert (trained["pairs"], trained["pearson"], trained["spearman"]) == (4927, 70.0, 60.0)


def test_gains_over_both():
    found = as_rows(embedding_tables.sts_gains(MODELS))
    assert len(found) == 10
    assert found[1] == {
        **{"embedding": "word", "training_set": "cost-beam-1", "seed": "1", "over": "overlap"},
        **{"pearson": -5.0, "low": -10.0, "high": 25.1},
    }


def test_differences_between_training_sets():
    found = as_rows(embedding_tables.sts_differences(STS, MODELS))
    pair = {"embedding": "word", "first": "cost-beam-1"}
    assert found == [
        {**pair, "second": "cost-beam-2", "pearson": -15.0, "low": -20.12, "high": 1.0},
        {**pair, "second": "all-beam", "pearson": None, "low": None, "high": None},
    ]


def test_damaged_test_of_embeddings(run, embedded, tmp_path):
    write_json(tmp_path / "sts.json", {"embeddings": {}})
    with pytest.raises(InputError, match=r"sts\.json has no record testing\.json"):
        write(run, tmp_path / "tables", "--sts", str(tmp_path / "sts.json"))
