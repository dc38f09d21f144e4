"""Splits of a rewriter's pairs: nothing that is held out is trained on."""

import json
from collections import Counter

import pytest

from tests.golden.inputs import write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record, shard_paths
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow, StsPairRow, TrainingPairRow
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.plan.catalogues.rewriters import reference_id
from workflow_scripts.stages.rewrite import training_pairs

SETTINGS = {"write": ["paraphrase"], "held_out": {"dev": 6, "test": 8}, "seed": 1}


def many(references=60, paraphrases=3):
    return [
        (f"c:{number}", f"Reference number {number}.", f"Sentence {number}, said in way {way}.")
        for number in range(references)
        for way in range(paraphrases)
    ]


def written(folder, *sets, evaluation=(), shards=3, **settings):
    """Return the rows that are made of training sets of (id, reference, paraphrase)."""
    folder.mkdir(exist_ok=True)
    keys = ("id", "reference", "paraphrase")
    paths = [
        write_table(
            folder / f"set{number}.parquet",
            TrainingPairRow,
            (dict(zip(keys, values, strict=True)) for values in rows),
        )
        for number, rows in enumerate(sets)
    ]
    tested = write_table(
        folder / "evaluation.parquet",
        StsPairRow,
        (
            {"data_set": "a", "group": "g", "score": 1.0, "first": text, "second": "Other."}
            for text in evaluation
        ),
    )
    output = folder / "out"
    training_pairs.write_pairs(SETTINGS | settings, paths, tested, shards, output)
    return [row for path in shard_paths(output, shards) for row in read_rows(path, PairRow)]


def by_split(rows):
    splits = {"train": [], "dev": [], "test": []}
    for row in rows:
        splits[row["corpus"]].append(row)
    return splits


def rejected(folder, shards=3):
    records = [read_record(path) for path in shard_paths(folder / "out", shards)]
    assert all(
        record["rows_in"] == record["rows_out"] + sum(record["rejected"].values())
        for record in records
    )
    return sum((Counter(record["rejected"]) for record in records), Counter())


def test_exactly_as_many_references_as_asked_for_with_all_their_pairs(tmp_path):
    rows = written(tmp_path, many())
    assert len(rows) == 180
    splits = by_split(rows)
    ids = {name: {reference_id(row["id"]) for row in of_split} for name, of_split in splits.items()}
    assert {name: len(of_split) for name, of_split in ids.items()} == {
        "train": 46,
        "dev": 6,
        "test": 8,
    }
    assert not ids["train"] & (ids["dev"] | ids["test"])
    assert Counter(reference_id(row["id"]) for row in rows) == Counter(
        {f"c:{number}": 3 for number in range(60)}
    )
    assert len({row["id"] for row in rows}) == len(rows)


def test_one_reference_under_several_ids_goes_into_one_split(tmp_path):
    rows = [
        (f"{copy}:{one}", text, f"{para} {copy}") for one, text, para in many() for copy in "ab"
    ]
    splits = {}
    for row in written(tmp_path, rows):
        splits.setdefault(letters_and_digits(row["source"]), set()).add(row["corpus"])
    assert all(len(corpora) == 1 for corpora in splits.values())


@pytest.mark.slow
def test_what_shares_an_id_or_a_text_with_a_held_out_reference_is_not_trained_on(tmp_path):
    """Two ranks make a pair of paraphrases: the same id with another text in its place."""
    crossed = [
        (f"c:{number}", f"Sentence {number}, said in way 0.", f"Quite another {number}.")
        for number in range(60)
    ]
    borrowed = [
        (f"d:{number}", f"Something else, {number}.", f"sentence {number} said in way 1")
        for number in range(60)
    ]
    rows = written(tmp_path, many(), crossed, borrowed)
    splits = by_split(rows)
    held = [row for name in ("dev", "test") for row in splits[name]]
    texts = {letters_and_digits(row[side]) for row in held for side in ("source", "reference")}
    ids = {reference_id(row["id"]) for row in held}
    for row in splits["train"]:
        assert reference_id(row["id"]) not in ids
        assert letters_and_digits(row["source"]) not in texts
        assert letters_and_digits(row["reference"]) not in texts
    tests = {letters_and_digits(row[s]) for row in splits["test"] for s in ("source", "reference")}
    devs = {letters_and_digits(row[s]) for row in splits["dev"] for s in ("source", "reference")}
    assert not tests & devs
    assert len({letters_and_digits(row["source"]) for row in splits["test"]}) == 8
    assert len({letters_and_digits(row["source"]) for row in splits["dev"]}) == 6
    assert rejected(tmp_path)["beside_held_out"] > 0


def test_copies_duplicates_and_sentences_of_tests_are_left_out_and_counted(tmp_path):
    rows = many()
    copies = [("x:1", "A copy, of course.", "a copy of COURSE"), ("x:2", "Tested. ", "By others.")]
    copies.append(("x:3", "By us.", "It is tested!"))
    again = [(f"again-{one}", text, para.upper()) for one, text, para in rows]
    left = written(
        tmp_path, [*rows, *copies], again, evaluation=["tested", "It is tested."], shards=2
    )
    assert len(left) == len(rows)
    assert rejected(tmp_path, 2) == {"identical": 1, "in_evaluation": 2, "duplicate": len(rows)}


@pytest.mark.slow
def test_held_out_references_are_the_same_whatever_the_shards_and_the_order(tmp_path):
    first = written(tmp_path / "a", many(), shards=2)
    other = written(tmp_path / "b", many()[::-1], shards=5)
    assert sorted(map(json.dumps, first)) == sorted(map(json.dumps, other))
    seeded = written(tmp_path / "c", many(), seed=2)
    assert by_split(seeded)["test"] != by_split(first)["test"]


@pytest.mark.slow
def test_test_references_do_not_depend_on_how_many_validate(tmp_path):
    few = by_split(written(tmp_path / "a", many()))["test"]
    more = by_split(written(tmp_path / "b", many(), held_out={"dev": 20, "test": 8}))["test"]
    assert sorted(map(json.dumps, few)) == sorted(map(json.dumps, more))


@pytest.mark.parametrize(
    ("write", "count"), [(["paraphrase"], 1), (["reference"], 1), (["paraphrase", "reference"], 2)]
)
def test_directions(tmp_path, write, count):
    rows = written(tmp_path, many(), write=write)
    assert len(rows) == 180 * count
    read = {row["source"].split()[0] for row in rows}
    assert read == {"paraphrase": {"Reference"}, "reference": {"Sentence"}}.get(
        write[0] if count == 1 else "", {"Reference", "Sentence"}
    )
    assert len({row["id"] for row in rows}) == len(rows)
    records = [read_record(path) for path in shard_paths(tmp_path / "out", 3)]
    assert sum(record["extra"]["rows"] for record in records) == len(rows)
    assert sum(record["extra"]["pairs"].get("test", 0) for record in records) == 24
    assert sum(record["extra"]["references"].get("test", 0) for record in records) == 8


def test_too_few_references_are_an_error_that_says_how_many_there_are(tmp_path):
    with pytest.raises(InputError, match=r"40 references for dev and 30 for test, and 60 without"):
        written(tmp_path, many(), held_out={"dev": 40, "test": 30})


def test_references_that_share_texts_do_not_fill_up_what_is_held_out(tmp_path):
    rows = [(f"c:{number}", f"Reference {number}.", "Always the same.") for number in range(60)]
    with pytest.raises(InputError, match="and 1 without a text in common"):
        written(tmp_path, rows)


def test_nothing_left_to_train_on_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no pair is left to train on"):
        written(tmp_path, many(14))


@pytest.mark.slow
def test_noise_damages_what_is_read_in_training_and_in_validation(tmp_path, capsys):
    texts = [
        "The old government announced another important decision yesterday.",
        "These teachers were reading an article about the animals.",
        "She looks at the river and he wants to explain it.",
    ]
    sets = [
        (f"c:{number}", f"{texts[number % 3]} Number {number}.", f"Said otherwise, {number}.")
        for number in range(90)
    ]
    noise = {"clean": 0.25, "most": 1, "copies": 4, "identity": 0.0, "weights": {"omit": 1.0}}
    changes = {"noise": noise, "language": "en"}
    plain = {row["id"]: row for row in written(tmp_path / "plain", sets)}
    rows = written(tmp_path / "noisy", sets, **changes)
    splits = by_split(rows)
    assert len(splits["train"]) == 4 * 76 and len(splits["dev"]) == 6
    # What judges the rewriter stays as it is.
    assert splits["test"] == [row for row in plain.values() if row["corpus"] == "test"]
    damaged = 0
    for row in splits["train"] + splits["dev"]:
        original = plain[row["id"].rpartition(".")[0]]
        assert row["reference"] == original["reference"]
        assert reference_id(row["id"]) == reference_id(original["id"])
        damaged += row["source"] != original["source"]
        assert len(original["source"]) - len(row["source"]) in (0, 1)
    assert 0.65 < damaged / (4 * 76 + 6) < 0.85
    records = [read_record(path) for path in shard_paths(tmp_path / "noisy" / "out", 3)]
    counted = sum((Counter(record["extra"]["damage"]) for record in records), Counter())
    assert counted == {"omit": damaged, "clean": len(rows) - len(splits["test"]) - damaged}
    assert "warning" not in capsys.readouterr().err
    # Neither shards nor other pairs change what is done to a row.
    by_id = {row["id"]: row for row in rows}
    fewer = written(tmp_path / "fewer", sets[:50], shards=1, **changes)
    common = [row for row in fewer if by_id.get(row["id"], {}).get("corpus") == row["corpus"]]
    assert len(common) > 40 and all(by_id[row["id"]] == row for row in common)


def test_a_kind_of_noise_that_never_fits_is_told(tmp_path, capsys):
    noise = {"clean": 0.0, "most": 1, "copies": 1, "identity": 1.0}
    noise["weights"] = {"omit": 1.0, "determiner": 1.0}
    rows = written(tmp_path, many(), noise=noise, language="en")
    assert "damage of the kinds determiner" in capsys.readouterr().err
    trained = by_split(rows)["train"]
    assert {row["reference"] for row in trained} == {
        f"Reference number {row['id'].split('-')[0][2:]}." for row in trained
    }
