import json
import shutil

import pytest

from workflow_scripts.core.manifest import read_record, write_record
from workflow_scripts.core.tables import TableWriter, read_rows
from workflow_scripts.generate.candidates import assemble, completes, main
from workflow_scripts.generate.constraints import constraint_sets
from workflow_scripts.generate.decoding import Decoding, Request
from workflow_scripts.generate.words import words_of
from workflow_scripts.nmt.vocabulary import SYMBOLS, Vocabulary
from workflow_scripts.subword.segmenter import Segmenter

CONSTRAINTS = {"kind": "negative", "choose": "random", "sets": 3, "fraction": [0.2, 0.5]}
CONFIG = {
    "system": "few",
    "search": {"method": "sample", "k": 10, "samples": 8, "temperature": 1.0},
    "constraints": CONSTRAINTS,
    "precision": "fp32",
    "seed": 5,
}
# Sentences of our own: the small caption model knows such words.
PAIRS = [
    ("Muž jede na kole po ulici.", "A man rides a bike down the street."),
    ("Dvě ženy stojí před domem.", "Two women stand in front of a house."),
    ("Pes běží po trávě.", "A dog runs across the grass."),
    ("Chlapec hraje fotbal.", "The boy plays football for his team."),
]


@pytest.fixture(scope="session")
def model(data_dir, tmp_path_factory):
    oracle = data_dir / "nmt_oracle"
    folder = tmp_path_factory.mktemp("forward")
    for path in (oracle / "model").iterdir():
        shutil.copyfile(path, folder / path.name)
    shutil.copyfile(oracle / "spm.cs.model", folder / "source.model")
    shutil.copyfile(oracle / "spm.en.model", folder / "reference.model")
    write_record(folder / "model", 0, 0, {}, files=list(folder.iterdir()))
    return folder


def run_main(folder, model, pairs, config=CONFIG, batch_rows=64):
    folder.mkdir()
    with TableWriter(folder / "references.parquet", "references") as writer:
        for number, source, reference in pairs:
            writer.write(
                {"id": f"c:{number}", "source": source, "reference": reference, "corpus": "c"}
            )
    write_record(folder / "references.parquet", len(pairs), len(pairs), {})
    output = folder / "candidates.parquet"
    files = ["--input", folder / "references.parquet", "--model", model, "--output", output]
    device = ["--device", "cpu", "--batch-rows", str(batch_rows), "--threads", "1"]
    main(["--config", json.dumps(config), *map(str, files), *device])
    return output


@pytest.fixture(scope="module")
def generated(model, tmp_path_factory):
    pairs = [(number, *pair) for number, pair in enumerate(PAIRS)]
    return run_main(tmp_path_factory.mktemp("run") / "all", model, pairs)


def test_candidates_hold_no_forbidden_phrase_and_add_up(generated, model):
    segmenter = Segmenter(model / "reference.model")
    rows = list(read_rows(generated, "candidates"))
    assert [row["reference"] for row in rows] == [reference for _, reference in PAIRS]
    forbidden = 0
    for row in rows:
        sets = constraint_sets(row["reference"], row["id"], CONSTRAINTS, 5, segmenter.pieces)
        assert row["sets"] == [
            {"set": number, "avoid": constraints.words} for number, constraints in enumerate(sets)
        ]
        assert len(row["candidates"]) + row["dropped"] == 3 * 8
        for candidate in row["candidates"]:
            assert candidate["text"] and candidate["forward_nll"] > 0
            assert candidate["variant"] == "few"
            # The model writes words in their Viterbi pieces only, so none comes back respelt.
            spellings = sets[candidate["set"]].spellings
            assert not spellings & {word.text for word in words_of(candidate["text"])}
            forbidden += len(spellings)
    assert forbidden > 100
    record = read_record(generated)
    assert (record["rows_in"], record["rows_out"]) == (4, 4)
    assert record["extra"]["candidates"] == sum(len(row["candidates"]) for row in rows)
    assert record["extra"]["blocked"] == sum(row["blocked"] for row in rows)


def test_repeating_gives_the_same_bytes(generated, model, tmp_path):
    pairs = [(number, *pair) for number, pair in enumerate(PAIRS)]
    again = run_main(tmp_path / "again", model, pairs)
    assert again.read_bytes() == generated.read_bytes()


def test_results_do_not_depend_on_sharding_or_batches(generated, model, tmp_path):
    pairs = [(number, *pair) for number, pair in enumerate(PAIRS)][::-2]
    other = run_main(tmp_path / "other", model, pairs, batch_rows=10)
    whole = {row["id"]: row for row in read_rows(generated, "candidates")}
    rows = list(read_rows(other, "candidates"))
    assert [row["id"] for row in rows] == ["c:3", "c:1"]
    for row in rows:
        expected = whole[row["id"]]
        texts = [candidate["text"] for candidate in expected["candidates"]]
        assert [candidate["text"] for candidate in row["candidates"]] == texts
        assert [found["forward_nll"] for found in row["candidates"]] == pytest.approx(
            [found["forward_nll"] for found in expected["candidates"]], abs=1e-4
        )


def test_without_constraints_and_with_an_unreadable_source(model, tmp_path):
    pairs = [(1, *PAIRS[0]), (2, "slovo " * 200, "A word."), (3, *PAIRS[1])]
    config = CONFIG | {"constraints": None}
    rows = list(read_rows(run_main(tmp_path / "run", model, pairs, config), "candidates"))
    assert [row["sets"] for row in rows] == [[{"set": 0, "avoid": []}]] * 3
    assert rows[1]["candidates"] == [] and rows[1]["dropped"] == 8
    assert rows[0]["candidates"] and rows[2]["candidates"]


def test_a_beam_gives_its_nbest_list_best_first(model, tmp_path):
    pairs = [(1, *PAIRS[0]), (2, "slovo " * 200, "A word."), (3, *PAIRS[1])]
    search = {"method": "beam", "beam_size": 6, "nbest": 4}
    config = CONFIG | {"constraints": None, "search": search}
    output = run_main(tmp_path / "run", model, pairs, config)
    rows = list(read_rows(output, "candidates"))
    assert [len(row["candidates"]) for row in rows] == [4, 0, 4]
    assert [row["dropped"] for row in rows] == [0, 1, 0]
    for row in (rows[0], rows[2]):
        assert [found["sample"] for found in row["candidates"]] == [0, 1, 2, 3]
        nlls = [found["forward_nll"] for found in row["candidates"]]
        assert nlls == sorted(nlls)
        assert len({found["text"] for found in row["candidates"]}) > 1
    assert read_record(output)["extra"]["unfinished"] == 1

    single = config | {"search": {"method": "beam", "beam_size": 6}}
    (best, *_) = read_rows(run_main(tmp_path / "best", model, pairs[:1], single), "candidates")
    assert best["candidates"] == rows[0]["candidates"][:1]


def test_a_beam_avoids_the_words_of_each_set(model, tmp_path):
    config = CONFIG | {"search": {"method": "beam", "beam_size": 4}}
    pairs = [(number, *pair) for number, pair in enumerate(PAIRS)]
    for row in read_rows(run_main(tmp_path / "run", model, pairs, config), "candidates"):
        assert len(row["candidates"]) == 3
        for candidate in row["candidates"]:
            avoided = row["sets"][candidate["set"]]["avoid"]
            words = {word.text.lower() for word in words_of(candidate["text"])}
            assert avoided and not words & {word.lower() for word in avoided}


class Letters:
    """One piece per letter; the first carries the blank's mark."""

    def pieces(self, text):
        return ["▁" + text[0], *text[1:]]

    def text(self, pieces):
        return "".join(pieces).replace("▁", " ").strip()


VOCABULARY = Vocabulary([*SYMBOLS, "▁", "▁a", "▁b", "b", "▁ab"])


def assembled(outputs, avoid):
    row = {"id": "c:1", "source": "s", "reference": "ab a", "corpus": "c"}
    config = {"sets": 1, "fraction": [0.5, 0.5]}
    for seed in range(20):  # until the word drawn is "ab"
        sets = constraint_sets("ab a", "c:1", config, seed, Letters().pieces)
        if sets[0].words == ["ab"]:
            break
    request = Request("c:1", 0, [5], avoid)
    found = Decoding(outputs, [0.5] * len(outputs), 2)
    return assemble(row, sets, [request], [found], VOCABULARY, Letters(), "v")


def test_empty_and_unfinished_samples_are_dropped_and_respelt_words_counted():
    row, counts = assembled([[4], [], [8], [6]], [(5, 7)])
    assert [(found["sample"], found["text"]) for found in row["candidates"]] == [
        (2, "ab"),
        (3, "b"),
    ]
    assert row["dropped"] == 4
    assert counts == {"candidates": 2, "unfinished": 2, "empty": 2, "respelt": 1, "blocked": 0}


def test_a_completed_phrase_is_a_fault():
    with pytest.raises(RuntimeError, match="forbidden phrase"):
        assembled([[6, 5, 7]], [(5, 7)])
    assert completes([1, 23, 4], [(23, 4)])
    assert not completes([1, 23, 4], [(3, 4), (2,), (23,) * 2])
