import json
from collections import Counter

import numpy as np
import pytest

from tests.unit.encoder.tasks.samples import qqp
from tests.unit.filter.conftest import arguments, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import EncoderPairRow, StsPairRow, TrainingPairRow
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.embed import train as embedding
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.encoder import identification_pairs as module
from workflow_scripts.stages.encoder.identification_pairs import (
    DEV,
    NEIGHBOUR,
    PARAPHRASE,
    RANDOM,
    TRAIN,
    Miner,
    graph_of,
    held_out,
    paraphrases,
    unrelated,
)
from workflow_scripts.stages.encoder.neighbours import NONE, Exact

NEGATIVES = defaults("encoder_negatives")
ROWS = [("a cat", "one cat"), ("a cat", "the cat"), ("a dog", "one dog"), ("A bird.", "one bird")]


def made(rows, barred=()):
    rejected = Counter()
    return graph_of(rows, {key(each) for each in barred}, rejected), rejected


def miner(found, vectors, allowed=None, seed=1, **changes):
    given = np.array(vectors, np.float32)
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    allowed = np.ones(len(given), bool) if allowed is None else np.array(allowed)
    return Miner(found, given, Exact(given), allowed, NEGATIVES | changes, seed)


def at(*angles):
    """Return vectors at these angles, in degrees."""
    radians = np.deg2rad(angles)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


# Of the sentences of `ROWS`: a cat, one cat, the cat, a dog, one dog, A bird., one bird.
ANGLES = at(0, 1, 2, 40, 10, 80, 88)


def negatives(mined, found):
    every = np.arange(len(found.texts))
    chosen = mined.negatives(every, paraphrases(found, 1)).sentences
    return [None if each == NONE else found.texts[each] for each in chosen]


class TestGraph:
    def test_sentences_stand_once_in_their_first_writing(self):
        found, _ = made([*ROWS, ("a  Bird", "bird!")])
        assert found.texts == [
            *("a cat", "one cat", "the cat", "a dog", "one dog", "A bird.", "one bird", "bird!")
        ]
        assert found.edges.tolist()[-1] == [5, 7]

    def test_what_pairs_join_is_a_group(self):
        """Siblings are one, and so are references that share a paraphrase."""
        found, _ = made([*ROWS, ("a puppy", "One dog")])
        groups = dict(zip(found.texts, found.groups, strict=True))
        assert groups["one cat"] == groups["the cat"] == groups["a cat"]
        assert groups["a puppy"] == groups["a dog"]
        assert len({groups[each] for each in ("a cat", "a dog", "A bird.")}) == 3

    def test_copies_and_what_is_tested_on_are_left_out(self):
        found, rejected = made([*ROWS, ("a cow", "A cow!"), ("a pig", "one pig")], ["One PIG."])
        assert rejected == {"identical": 1, "in_evaluation": 1}
        assert not {"a cow", "A cow!", "a pig"} & set(found.texts)

    def test_what_is_left_out_joins_groups_all_the_same(self):
        """Paraphrases of `a pig`, which is tested on, are no negatives of one another."""
        rows = [
            ("a pig", "one pig"),
            ("a pig", "the pig"),
            ("a sow", "one pig"),
            ("a hog", "the pig"),
        ]
        found, rejected = made([*rows, ("a cat", "one cat")], ["A pig"])
        assert rejected == {"in_evaluation": 2}
        assert found.texts == ["a sow", "one pig", "a hog", "the pig", "a cat", "one cat"]
        assert found.groups.tolist() == [0, 0, 0, 0, 1, 1]

    def test_no_pair(self):
        assert made([("a", "A")])[0].texts == []


class TestHeldOut:
    def test_whole_groups_and_not_more_than_the_share(self):
        found, _ = made([(f"reference {n}", f"paraphrase {n % 40}") for n in range(80)])
        dev = held_out(found, 0.25, 1)
        assert 0.2 * len(dev) < dev.sum() <= 0.25 * len(dev)
        for group in range(found.groups.max() + 1):
            assert len(set(dev[found.groups == group])) == 1

    def test_a_group_that_is_too_large_is_passed_over(self):
        rows = [("yes", f"answer {n}") for n in range(50)]
        rows += [(f"reference {n}", f"paraphrase {n}") for n in range(50)]
        found, _ = made(rows)
        for seed in range(20):
            dev = held_out(found, 0.1, seed)
            assert not dev[0]
            assert dev.sum() == 14  # of 151 sentences, by twos

    def test_the_seed_draws(self):
        found, _ = made([(f"reference {n}", f"paraphrase {n}") for n in range(50)])
        assert held_out(found, 0.2, 1).tolist() == held_out(found, 0.2, 1).tolist()
        assert held_out(found, 0.2, 1).tolist() != held_out(found, 0.2, 2).tolist()


def test_each_sentence_has_a_paraphrase_of_its_own():
    found, _ = made([("r", f"p {n}") for n in range(6)] + [("s", "q"), ("s", "q")])
    drawn = [paraphrases(found, seed) for seed in range(30)]
    partners = {tuple(sorted(edge)) for edge in found.edges.tolist()}
    for each in drawn:
        assert all(tuple(sorted(pair)) in partners for pair in enumerate(each.tolist()))
    assert len({each[0] for each in drawn}) == 6


class TestMiner:
    @pytest.mark.parametrize(
        ("rows", "angles", "expected"),
        [
            # Not itself, not a sibling, however near they are.
            (ROWS, ANGLES, ["one dog"] * 3 + ["the cat"] * 2 + ["a dog"] * 2),
            # `one dog` is of both `a dog` and `a puppy`: of neither it is a negative, nor they.
            (
                [("a dog", "one dog"), ("a puppy", "One dog."), ("a cat", "one cat")],
                at(0, 1, 2, 50, 60),
                ["a cat"] * 3 + ["a puppy"] * 2,
            ),
            # Near copies are none: `A cat!` is `a cat`, whatever pair it is in.
            (
                [("a cat", "one cat"), ("A cat!", "the cat"), ("a dog", "one dog")],
                at(0, 1, 2, 50, 60),
                ["a dog"] * 3 + ["the cat"] * 2,
            ),
        ],
    )
    def test_the_nearest_that_is_no_paraphrase(self, rows, angles, expected):
        found, _ = made(rows)
        assert negatives(miner(found, angles), found) == expected

    def test_a_rank_is_counted_among_those_that_are_allowed(self):
        found, _ = made(ROWS)
        mined = miner(found, ANGLES, ranks=[2, 2])
        assert negatives(mined, found)[:3] == ["a dog"] * 3
        some = (miner(found, ANGLES, seed=seed, ranks=[1, 3]) for seed in range(40))
        drawn = {negatives(each, found)[0] for each in some}
        assert drawn == {"one dog", "a dog", "A bird."}

    def test_bounds_of_the_cosine(self):
        found, _ = made(ROWS)
        high = miner(found, ANGLES, similarity=[None, 0.9])
        assert negatives(high, found)[0] == "a dog"
        low = miner(found, ANGLES, similarity=[0.9, None])
        assert negatives(low, found) == ["one dog"] * 3 + [None, "the cat", None, None]

    def test_the_margin(self):
        """A negative is less alike than the paraphrase by that much."""
        found, _ = made([("a cat", "one cat"), ("a dog", "one dog"), ("a pig", "one pig")])
        angles = at(0, 20, 5, 30, 60, 180)
        assert negatives(miner(found, angles), found)[0] == "a dog"
        assert negatives(miner(found, angles, margin=0.0), found)[0] == "one dog"
        assert negatives(miner(found, angles, margin=0.2), found)[0] == "a pig"

    def test_only_what_is_allowed(self):
        found, _ = made(ROWS)
        allowed = [True] * 4 + [False] + [True] * 2
        assert negatives(miner(found, ANGLES, allowed), found)[0] == "a dog"

    def test_behind_many_siblings(self, monkeypatch):
        """More neighbours are looked at where the first are all of one group."""
        monkeypatch.setattr(module, "_FIRST", 2)
        rows = [("r", f"p {n}") for n in range(30)] + [("s", "q")]
        found, _ = made(rows)
        mined = miner(found, at(*np.linspace(0, 1, 31), 50, 60))
        assert negatives(mined, found)[:31] == ["s"] * 31


@pytest.mark.parametrize(("siblings", "expected"), [(7, "s"), (8, None)])
def test_neighbours_up_to_the_last_that_is_looked_at(monkeypatch, siblings, expected):
    """With seven siblings the first other sentence is the eighth neighbour."""
    monkeypatch.setattr(module, "_FIRST", 2)
    monkeypatch.setattr(module, "_MOST", 8)
    found, _ = made([*(("r", f"p {n}") for n in range(siblings)), ("s", "q")])
    mined = miner(found, at(*np.linspace(0, 1, siblings + 1), 50, 60))
    assert negatives(mined, found)[0] == expected


def test_unrelated_sentences_are_of_other_groups():
    found, _ = made(ROWS)
    drawn = [unrelated(found, np.array([0, 3]), seed) for seed in range(30)]
    assert all((found.groups[each] != found.groups[[0, 3]]).all() for each in drawn)
    assert len({each[0] for each in drawn}) == 4
    alone, _ = made(ROWS[:2])
    assert unrelated(alone, np.array([0]), 1).tolist() == [NONE]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A training set, a test set, and an embedding of it."""
    folder = tmp_path_factory.mktemp("data")
    things = ["cat", "dog", "bird", "tree", "house", "cow", "pig", "hen"]
    rows = [
        (f"the {big} {thing} sees me", f"{word} {big} {thing} looks at me")
        for thing in things
        for big in ("old", "new", "big")
        for word in ("a", "one")
    ]
    table = [
        {"id": f"c:{number}", "reference": one, "paraphrase": other}
        for number, (one, other) in enumerate(rows)
    ]
    tested = [
        {"data_set": "a", "group": "g", "score": 1.0, "first": rows[0][1].upper(), "second": "-"}
    ]
    write_table(folder / "pairs.parquet", TrainingPairRow, table)
    write_table(folder / "evaluation.parquet", StsPairRow, tested)
    config = {
        "name": "word",
        "model": defaults("embedding_model") | {"dimension": 8},
        "training": defaults("embedding_training") | {"epochs": 1, "batch": 8, "mega_batch": 1},
        **{"repetition": 1, "language": "en", "seed": 1},
    }
    given = {"pairs": folder / "pairs.parquet", "evaluation": folder / "evaluation.parquet"}
    model = folder / "model"
    embedding.main(arguments(config, **given, work=folder / "work", device="cpu", output=model))
    return folder


def mined(data, output, inputs=None, **changes):
    config = {"sentences": ["reference", "paraphrase"], "negatives": NEGATIVES, "held_out": 0.2}
    given = {name: data / f"{name}.parquet" for name in ("pairs", "evaluation")}
    module.main(
        arguments(
            config | {"seed": 1} | changes,
            **given,
            inputs=json.dumps(inputs or {}),
            embedding=data / "model",
            output=output,
        )
    )
    return {name: list(read_rows(output / name, EncoderPairRow)) for name in (TRAIN, DEV)}


def test_each_sentence_has_two_pairs_and_parts_share_none(data, tmp_path):
    found = mined(data, tmp_path)
    # The vectors are not left behind.
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["dev.parquet", "pairs.json", "train.parquet"]
    kinds = {name: Counter(row["kind"] for row in rows) for name, rows in found.items()}
    assert kinds[TRAIN][PARAPHRASE] == kinds[TRAIN][NEIGHBOUR] > 0
    assert kinds[DEV][PARAPHRASE] == kinds[DEV][NEIGHBOUR] == kinds[DEV][RANDOM] > 0
    assert RANDOM not in kinds[TRAIN]
    for rows in found.values():
        labels = {(row["kind"] == PARAPHRASE, row["label"]) for row in rows}
        assert labels == {(True, 1), (False, 0)}
        firsts = Counter(row["first"] for row in rows if row["kind"] == PARAPHRASE)
        assert set(firsts.values()) == {1}
    trained = {row[side] for row in found[TRAIN] for side in ("first", "second")}
    assert trained.isdisjoint(row["first"] for row in found[DEV])
    assert trained.isdisjoint(row["second"] for row in found[DEV] if row["kind"] == PARAPHRASE)


def test_nothing_that_is_tested_on_is_in_a_pair(data, tmp_path):
    found = mined(data, tmp_path)
    texts = {row[side] for rows in found.values() for row in rows for side in ("first", "second")}
    assert "a old cat looks at me" not in texts
    record = read_record(tmp_path / "pairs")
    assert record["rejected"] == {"in_evaluation": 1}
    assert record["rows_in"] == 48
    assert record["extra"]["pairs"] == {
        name.partition(".")[0]: len(rows) for name, rows in found.items()
    }


def test_nothing_that_a_task_reports_on_is_in_a_pair(data, tmp_path):
    qqp(tmp_path / "qqp", [("The new pig sees me!", "learnt from", 1)])
    qqp(tmp_path / "qqp", [("x", "The old pig sees me!", 1)], "dev")
    found = mined(data, tmp_path / "pairs", tasks={"QQP": str(tmp_path / "qqp")})
    texts = {row[side] for rows in found.values() for row in rows for side in ("first", "second")}
    assert "the old pig sees me" not in texts
    assert "the new pig sees me" in texts
    assert read_record(tmp_path / "pairs" / "pairs")["rejected"] == {"in_evaluation": 3}


def test_files_that_changed_since_the_planning_are_refused(data, tmp_path):
    path = qqp(tmp_path)
    with pytest.raises(InputError, match=r"train\.tsv changed since the run was planned"):
        mined(data, tmp_path / "pairs", inputs={str(path): "0" * 64})
    assert not (tmp_path / "pairs").exists()


@pytest.mark.slow
def test_another_seed_gives_other_pairs(data, tmp_path):
    assert mined(data, tmp_path / "one") != mined(data, tmp_path / "other", seed=2)


def test_sides_can_be_chosen(data, tmp_path):
    found = mined(data, tmp_path, sentences=["reference"])
    assert {row["first"].split()[0] for rows in found.values() for row in rows} == {"the"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"held_out": 0.001}, r"no pair can be held out \(left out: in_evaluation 1\)"),
        (
            {"negatives": NEGATIVES | {"similarity": [None, -0.9999]}},
            r"no pair can be trained on \(.*without_negative \d+\)",
        ),
    ],
)
def test_where_nothing_is_left_it_says_so(data, tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        mined(data, tmp_path, **changes)
