import numpy as np
import pytest

from tests.unit.filter.conftest import arguments, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import (
    PAIR_COLUMNS,
    PairColumnsRow,
    PairValueRow,
    TrainingPairRow,
)
from workflow_scripts.stages.filter import pair_stream
from workflow_scripts.stages.filter.training_set import main

ALL = {
    **{"system": "s", "bounds": {}, "folds": None},
    **{"max_tokens": None, "sample": None, "seed": 1},
}
PAIRS = 200


def pair(number, random):
    columns = dict.fromkeys(PAIR_COLUMNS, 0.0)
    columns |= {
        "rank": 1 + number % 5,
        "reference_words": 1 + number % 7,
        "paraphrase_words": 2,
        "translation_cost": float(np.float32(round(random.random(), 2))),
        "overlap_1": float(np.float32(0.1 * (number % 10))),
        "backward_nll": None if number % 4 == 0 else 1.0,
    }
    name = f"c:{number // 5}"
    return {"id": name, "reference": f"r{number}", "paraphrase": f"p{number}", **columns}


def write_shards(folder, kind, rows):
    """Write rows as two shards, of 90 and of the rest; return their folder."""
    for shard, part in (("0000", rows[:90]), ("0001", rows[90:])):
        write_table(folder / f"{shard}.parquet", kind, part)
    return folder


def with_values(rows, values):
    return [
        {"id": row["id"], "rank": row["rank"], "value": value}
        for row, value in zip(rows, values, strict=True)
    ]


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(1)
    return [pair(number, random) for number in range(PAIRS)]


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    return write_shards(tmp_path_factory.mktemp("columns"), PairColumnsRow, rows)


@pytest.fixture(scope="module")
def values(rows, tmp_path_factory):
    """A column in files of its own: unknown for every tenth pair, else the last digit."""
    column = with_values(rows, [float(number % 10) or None for number in range(PAIRS)])
    return write_shards(tmp_path_factory.mktemp("values"), PairValueRow, column)


@pytest.fixture
def chosen(folder, tmp_path):
    def choose(values=(), **settings):
        output = tmp_path / "set" / "pairs.parquet"
        options = {"folder": folder, "values": list(values), "shards": 2, "output": output}
        main(arguments(ALL | settings, **options))
        record = read_record(output)
        assert record["rows_in"] == PAIRS
        return list(read_rows(output, TrainingPairRow)), record["rejected"]

    return choose


def texts(rows):
    return [{key: row[key] for key in ("id", "reference", "paraphrase")} for row in rows]


def test_without_settings_it_is_all_pairs(chosen, rows, capsys):
    assert chosen() == (texts(rows), {})
    assert f"training set: {PAIRS} rows done" in capsys.readouterr().err


def test_bounds_are_inclusive_and_the_first_that_fails_is_counted(chosen, rows):
    found, rejected = chosen(bounds={"overlap_1": [0.2, 0.7], "rank": [None, 2]})
    inside = [row for row in rows if np.float32(0.2) <= row["overlap_1"] <= np.float32(0.7)]
    assert found == texts([row for row in inside if row["rank"] <= 2])
    assert rejected == {"overlap_1": PAIRS - len(inside), "rank": len(inside) - len(found)}


def test_a_pair_without_a_value_is_not_within_its_bounds(chosen, rows):
    found, rejected = chosen(bounds={"backward_nll": [None, None]})
    assert found == texts([row for row in rows if row["backward_nll"] is not None])
    assert rejected == {"backward_nll": PAIRS // 4}


def test_columns_in_files_of_their_own(chosen, rows, values):
    found, rejected = chosen([f"digit={values}"], bounds={"digit": [None, 4], "rank": [1, 2]})
    wanted = [row for number, row in enumerate(rows) if 1 <= number % 10 <= 4]
    assert found == texts([row for row in wanted if row["rank"] <= 2])
    assert rejected == {"digit": PAIRS - len(wanted), "rank": len(wanted) - len(found)}


@pytest.mark.parametrize(
    "settings",
    [
        {"bounds": {"digit": [0.5, None], "rank": [1, 2]}},
        {"folds": {"column": "digit", "of": 2, "keep": [2]}},
    ],
)
def test_a_column_without_any_value_is_refused(chosen, rows, settings, tmp_path):
    """Such as a paraphrase score by word vectors of another language."""
    known = [None] * PAIRS
    for known[150] in (None, 1.0):
        write_shards(tmp_path, PairValueRow, with_values(rows, known))
        if known[150] is None:
            with pytest.raises(InputError, match=r"digit: none of the 200 pairs has a value"):
                chosen([f"digit={tmp_path}"], **settings)
        else:
            assert [row["id"] for row in chosen([f"digit={tmp_path}"], **settings)[0]] in (
                [["c:30"], []]
            )


def test_values_of_other_pairs_are_refused(chosen, values, rows, tmp_path):
    others = [*rows[1:91], *rows[90:]]
    write_shards(tmp_path, PairValueRow, with_values(others, [1.0] * len(others)))
    with pytest.raises(InputError, match=r"0000\.parquet is not of the pairs in"):
        chosen([f"digit={tmp_path}"], bounds={"digit": [None, 4]})


@pytest.mark.slow
def test_folds_are_tenths_by_rank_of_what_is_within_the_bounds(chosen, rows):
    within = [row for row in rows if row["rank"] > 1]
    order = sorted(range(len(within)), key=lambda index: within[index]["translation_cost"])
    together = []
    for part in range(1, 11):
        folds = {"column": "translation_cost", "of": 10, "keep": [part]}
        found, rejected = chosen(bounds={"rank": [2, None]}, folds=folds)
        assert found == texts([within[i] for i in sorted(order[16 * (part - 1) : 16 * part])])
        assert rejected == {"rank": 40, "fold": 144}
        together += found
    assert len({row["reference"] for row in together}) == len(within)


def test_folds_first_are_tenths_of_all_pairs_and_bounds_hold_within(chosen, rows):
    """ParaNMT, 5.4: its tenths are of all pairs, and long sentences leave the best ones after."""
    order = sorted(range(PAIRS), key=lambda index: rows[index]["translation_cost"])
    folds = {"column": "translation_cost", "of": 10, "keep": [9, 10]}
    bounds = {"reference_words": [None, 4]}
    found, rejected = chosen(bounds=bounds, folds=folds, first="folds")
    top = [rows[index] for index in sorted(order[160:])]
    assert found == texts([row for row in top if row["reference_words"] <= 4])
    assert rejected == {"fold": 160, "reference_words": 40 - len(found)}
    assert found != chosen(bounds=bounds, folds=folds)[0]


def test_folds_first_leave_out_pairs_without_a_value_in_their_column(chosen, rows):
    folds = {"column": "backward_nll", "of": 2, "keep": [1]}
    found, rejected = chosen(bounds={"rank": [1, 1]}, folds=folds, first="folds")
    known = [row for row in rows if row["backward_nll"] is not None][: PAIRS * 3 // 8]
    assert found == texts([row for row in known if row["rank"] == 1])
    assert rejected == {"backward_nll": 50, "fold": 75, "rank": 75 - len(found)}


@pytest.mark.parametrize("rank", [1, 3, 9])
def test_one_rank_of_each_reference_or_the_last_of_a_shorter_list(chosen, rows, rank):
    """ParaBank 2, 3.7: lower ranks that would be empty have the last paraphrase."""
    found, rejected = chosen(bounds={"overlap_1": [0.25, None]}, ranks=rank)
    wanted = []
    for start in range(0, PAIRS, 5):
        left = [row for row in rows[start : start + 5] if row["overlap_1"] >= np.float32(0.25)]
        wanted += left[:rank][-1:]
    assert found == texts(wanted)
    # Of ten overlaps 0 to 0.9 the first three are out: 0.3 is rank 4 of the first reference.
    out = 3 * PAIRS // 10
    assert rejected == {"overlap_1": out, "other_rank": PAIRS - out - len(wanted)}
    assert len(wanted) == PAIRS // 5


def test_two_ranks_make_a_pair_without_the_reference(chosen, rows):
    found, rejected = chosen(ranks=[1, 5])
    assert found == [
        {"id": first["id"], "reference": first["paraphrase"], "paraphrase": last["paraphrase"]}
        for first, last in zip(rows[::5], rows[4::5], strict=True)
    ]
    assert rejected == {"other_rank": PAIRS * 4 // 5}


def test_of_one_paraphrase_there_is_no_pair_of_two(chosen):
    found, rejected = chosen(bounds={"overlap_1": [None, 0.5]}, ranks=[1, 5])
    # Every second reference has overlaps 0.5 to 0.9: one row is left of it.
    assert len(found) == PAIRS // 10
    assert rejected == {"overlap_1": 80, "alone": 20, "other_rank": 80}


@pytest.fixture
def two_corpora(rows, tmp_path):
    """Two of three references are of the corpus c2, whose name begins as that of the other."""
    named = [
        {**row, "id": row["id"].replace("c:", "c2:") if number // 5 % 3 else row["id"]}
        for number, row in enumerate(rows)
    ]
    return write_shards(tmp_path / "two", PairColumnsRow, named), named


@pytest.mark.slow
def test_pairs_of_some_corpora_are_taken_before_folds_are_made(two_corpora, tmp_path):
    folder, named = two_corpora

    def choose(number, **settings):
        output = tmp_path / str(number) / "pairs.parquet"
        main(arguments(ALL | settings, folder=folder, values=[], shards=2, output=output))
        return list(read_rows(output, TrainingPairRow)), read_record(output)["rejected"]

    own = [row for row in named if row["id"].startswith("c:")]
    found, rejected = choose(1, corpora=["c"])
    assert found == texts(own)
    assert rejected == {"other_corpus": PAIRS - len(own)}
    assert len(choose(2, corpora=["c", "c2"])[0]) == PAIRS
    folds = {"column": "translation_cost", "of": 10, "keep": [10]}
    order = sorted(range(len(own)), key=lambda index: own[index]["translation_cost"])
    for first in ("bounds", "folds"):
        found, rejected = choose(first, corpora=["c"], folds=folds, first=first)
        last = sorted(order[len(own) * 9 // 10 :])
        assert found == texts([own[index] for index in last])
        assert rejected == {"other_corpus": PAIRS - len(own), "fold": len(own) - len(last)}


def test_samples_of_all_ranks_are_of_the_same_references(chosen):
    drawn = [chosen(ranks=rank, sample=11)[0] for rank in (1, 4, [1, 5])]
    assert {len(each) for each in drawn} == {11}
    assert len({tuple(row["id"] for row in each) for each in drawn}) == 1
    assert [row["id"] for row in drawn[0]] == [
        row["id"] for row in chosen(bounds={"rank": [1, 1]}, sample=11)[0]
    ]


def test_words_of_two_paraphrases_count(chosen):
    # 2 words each, in all 4 for a pair of two.
    assert len(chosen(ranks=[2, 3], max_tokens=41)[0]) == 10


def test_samples_of_one_seed_are_nested_and_others_differ(chosen, rows):
    few, rejected = chosen(sample=20)
    assert rejected == {"sample": PAIRS - 20}
    more = chosen(sample=50)[0]
    assert len(more) == 50
    assert [row for row in more if row in few] == few
    assert chosen(sample=20, seed=2)[0] != few
    assert chosen(sample=PAIRS)[0] == texts(rows)


def test_maximum_of_tokens_counts_the_words_of_both_sides(chosen, rows):
    words = {row["reference"]: row["reference_words"] + 2 for row in rows}
    found, _ = chosen(max_tokens=100)
    total = sum(words[row["reference"]] for row in found)
    assert 100 - max(words.values()) < total <= 100
    both, _ = chosen(max_tokens=100, sample=5)
    assert len(both) == 5
    assert [row for row in found if row in both] == both
    assert chosen(max_tokens=1)[0] == []


@pytest.mark.slow
def test_the_size_of_batches_makes_no_difference(chosen, monkeypatch):
    settings = {
        "folds": {"column": "overlap_1", "of": 3, "keep": [2]},
        "bounds": {"backward_nll": [0, 2]},
        "sample": 30,
    }
    others = [{"ranks": 3}, {"ranks": [1, 5], "sample": 9}, {"ranks": 2} | settings]
    whole = [chosen(**each) for each in (settings, *others)]
    for size in (1, 2, 7):
        monkeypatch.setattr(pair_stream, "BATCH", size)
        assert [chosen(**each) for each in (settings, *others)] == whole
