import json
import math

import pytest

from tests.golden.inputs import arguments
from tests.tables import candidate, pair, paraphrase, selected, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.rows import ParaphrasesRow, ScoredRow, TreesRow
from workflow_scripts.stages.evaluate.diversity import diversity
from workflow_scripts.stages.evaluate.measures import main, measure, summary
from workflow_scripts.stages.select.threshold import RECORD as THRESHOLD_RECORD

CONFIG = {
    "system": "s",
    "best": 3,
    "groups": {"seen": ["train"], "held_out": ["held"]},
    "testbed": [],
    "bootstrap": 100,
    "seed": 1,
    "language": "en",
}


def row(corpus, reference, *texts, number=0):
    listed = [
        paraphrase(rank, text, 0.5, 0.5 * rank, cluster=rank) for rank, text in enumerate(texts, 1)
    ]
    return selected(pair(f"{corpus}:{number}", reference=reference), listed)


ROWS = [
    row("train", "a b c d e f", "a b c d f e", "b a c d e f", "f e d c b a", "cut off"),
    row("held", "g h i j k", "g h i k j", "x g h i j"),
    row("train", "l m n o p", "l m n o p!"),
    row("elsewhere", "q r s t u"),
]


def measured(segmenter, rows=ROWS, **changes):
    config = {**CONFIG, **changes}
    return summary(measure(rows, config, segmenter, None), config)


def test_each_rank_is_a_system_and_lacking_ones_repeat_the_last(segmenter):
    groups = measured(segmenter)
    pairs = {
        1: [("a b c d e f", "a b c d f e"), ("g h i j k", "g h i k j"), ("l m n o p", "l m n o p")],
        2: [("a b c d e f", "b a c d e f"), ("g h i j k", "x g h i j"), ("l m n o p", "l m n o p")],
        3: [("a b c d e f", "f e d c b a"), ("g h i j k", "x g h i j"), ("l m n o p", "l m n o p")],
    }
    for rank, expected in pairs.items():
        found = groups["all"]["ranks"][rank - 1]
        words, pieces = diversity(expected), diversity(expected, segmenter)
        assert found["rank"] == rank
        for bag, result in (("words", words), ("pieces", pieces)):
            assert {"pairs": 3, "one_minus_bleu": found["one_minus_bleu"], **found[bag]} == result
    assert [rank["listed"] for rank in groups["all"]["ranks"]] == [3, 2, 1]
    assert [rank["repeated"] for rank in groups["all"]["ranks"]] == [0, 1, 2]
    assert [rank["copies"] for rank in groups["all"]["ranks"]] == [1, 0, 0]
    assert [rank["mean_sum"] for rank in groups["all"]["ranks"]] == [1.0, 1.5, 2.0]


def test_groups_and_references_without_paraphrases(segmenter):
    groups = measured(segmenter)
    counts = {name: group["references"] for name, group in groups.items()}
    assert counts == {"all": 4, "seen": 2, "held_out": 1}
    assert groups["all"]["references_by_paraphrases"] == [1, 1, 1, 1]
    assert groups["seen"]["references_by_paraphrases"] == [0, 1, 0, 1]
    alone = diversity([("g h i j k", "g h i k j")])
    assert groups["held_out"]["ranks"][0]["one_minus_bleu"] == alone["one_minus_bleu"]


def test_the_gain_counts_near_doubles_once_and_has_the_mean_probability(segmenter):
    rows = [
        row("train", "The dog sleeps here now", "A hound sleeps here", "The hound is sleeps here"),
        row("held", "the dog sleeps here", "That dog sleeps there.", number=1),
        row("held", "nothing was found"),
    ]
    listed = [*rows[0]["paraphrases"], *rows[1]["paraphrases"]]
    for each, known in zip(listed, (0.5, 0.75, 0.9), strict=True):
        each["probability"] = known
    groups = measured(segmenter, rows=rows)
    gain = groups["all"]["gain"]
    counts = {name: gain[name] for name in ("paraphrases", "different", "changed")}
    assert counts == {"paraphrases": 3, "different": 2, "changed": 2}
    assert gain["expected_good"]["share"] == pytest.approx(100 * 2.15 / 3, abs=1e-5)
    # A bootstrap sample has the one reference, the other, or both; and the judge may be off.
    low, high = (gain["expected_good"][end] for end in ("low", "high"))
    assert 40 < low < 62.5 and 90 < high < 96
    pairs = [(each["reference"], one["text"]) for each in rows for one in each["paraphrases"]]
    assert gain["one_minus_bleu"] == pytest.approx(diversity(pairs)["one_minus_bleu"])
    assert groups["seen"]["gain"]["expected_good"]["share"] == 62.5
    unjudged = measured(segmenter)["all"]["gain"]
    assert (unjudged["paraphrases"], unjudged["expected_good"]) == (6, None)


def test_by_length_of_the_reference(segmenter):
    five, six, ten, long = "a b c d e", "a b c d e f", "a b c d e f g h i j", "w " * 41
    rows = [
        row("train", f"{five}.", "a b c d x", "x y c d e"),  # punctuation is no word
        row("held", six, "a b c d e f"),
        row("held", ten, "b a c d e f g h i j", "a b c d e f g h i"),
        row("train", long, "w " * 40),
        row("train", "?"),
    ]
    group = measured(segmenter, rows=rows, best=2)["all"]
    found = group["by_length"]
    assert [(each["from"], each["to"]) for each in found] == [
        *((0, 5), (6, 10), (11, 20), (21, 40), (41, None))
    ]
    assert [each["references"] for each in found] == [2, 2, 0, 0, 1]
    assert found[0]["references_by_paraphrases"] == [1, 0, 1]
    # The second rank of the six words repeats the first.
    expected = diversity([(six, six), (ten, "a b c d e f g h i")])
    second = found[1]["ranks"][1]
    assert (second["listed"], second["repeated"], second["pairs"]) == (1, 1, 2)
    assert second["one_minus_bleu"] == expected["one_minus_bleu"]
    assert second["words"]["intersection_over_union"] == 95.0
    # 4 of 5 words, 3 of 4 bigrams, 2 of 3 trigrams, 1 of 2 4-grams: the fourth root of a fifth.
    assert found[0]["ranks"][0]["one_minus_bleu"] == pytest.approx(100 * (1 - 0.2**0.25))
    assert found[0]["ranks"][0]["words"]["intersection_over_union"] == pytest.approx(100 * 4 / 6)
    assert found[2]["ranks"][0]["one_minus_bleu"] is None
    assert found[4]["ranks"][0]["words"]["length_ratio"] == pytest.approx(40 / 41, abs=1e-6)
    listed = sum(each["ranks"][0]["pairs"] for each in found)
    assert listed == group["ranks"][0]["pairs"] == 4


def test_between_ranks(segmenter):
    between = measured(segmenter)["all"]["between"]
    assert [(pair["first"], pair["second"]) for pair in between] == [(1, 2), (1, 3), (2, 3)]
    pairs = [("a b c d f e", "f e d c b a"), ("g h i k j", "x g h i j"), ("l m n o p",) * 2]
    expected = diversity(pairs)
    assert between[1]["one_minus_bleu"] == expected["one_minus_bleu"]
    assert between[1]["words"]["intersection_over_union"] == expected["intersection_over_union"]


def test_intervals_hold_their_values(segmenter):
    group = measured(segmenter)["all"]
    for rank in group["ranks"]:
        assert rank["interval"]["low"] <= rank["one_minus_bleu"] <= rank["interval"]["high"]
    difference = group["difference"]
    last, first = (group["ranks"][rank]["one_minus_bleu"] for rank in (-1, 0))
    assert difference["one_minus_bleu"] == pytest.approx(last - first, abs=1e-5)
    assert difference["low"] <= difference["one_minus_bleu"] <= difference["high"]


def test_a_group_without_paraphrases_has_no_figures(segmenter):
    group = measured(segmenter, rows=ROWS[3:])["held_out"]
    assert group["difference"] is None
    assert group["ranks"][0]["one_minus_bleu"] is None
    assert group["ranks"][0]["interval"] is None
    assert group["references"] == 0


@pytest.mark.parametrize("score", [None, math.inf])
def test_paraphrases_without_backward_scores(segmenter, score):
    unscored = row("train", "a b", "a c")
    unscored["paraphrases"][0].update(backward_nll=score, sum=score)
    ranks = measured(segmenter, rows=[unscored])["all"]["ranks"]
    assert ranks[0]["mean_sum"] is None
    assert ranks[0]["listed"] == 1


def scored(row):
    """Return the row of the `scored` schema whose candidates are a row's paraphrases."""
    candidates = [
        candidate(each["text"], each["forward_nll"], each["backward_nll"], variant="")
        for each in row["paraphrases"]
    ]
    return pair(row["id"], reference=row["reference"]) | {"candidates": candidates}


def write_shards(folder, kind, shards):
    for number, rows in enumerate(shards):
        write_table(folder / f"{number:04d}.parquet", kind, rows)


def write_folders(folder, shards):
    write_shards(folder / "selected", ParaphrasesRow, shards)
    write_shards(folder / "scored", ScoredRow, [map(scored, rows) for rows in shards])
    threshold = folder / "selected" / "threshold.json"
    write_json(threshold, {"max_sum": 3.5})
    write_record(threshold.with_name(THRESHOLD_RECORD), 0, 0, {}, files=[threshold])


def trees(row):
    """Return the tree of every sentence: flat, each word a part of speech of its own."""

    def tree(text):
        return f"(S {' '.join(f'({word} w)' for word in text.split())})"

    texts = [each["text"] for each in row["paraphrases"]]
    return {
        **{"id": row["id"], "corpus": row["corpus"], "parsed": bool(texts)},
        "reference": tree(row["reference"]) if texts else None,
        "paraphrases": [tree(text) for text in texts],
    }


def write_trees(folder, shards):
    write_shards(folder / "trees", TreesRow, [map(trees, rows) for rows in shards])
    return {"trees": folder / "trees"}


def run_main(folder, segmenter_path, shards, options=None, **changes):
    files = {"folder": folder / "selected", "scored": folder / "scored", **(options or {})}
    files |= {"model": segmenter_path.parent, "output": folder / "measures.json"}
    main(arguments({**CONFIG, **changes}, shards=shards, **files))
    return files["output"]


def test_command(tmp_path, segmenter, segmenter_path):
    write_folders(tmp_path, [ROWS[:2], ROWS[2:]])
    path = run_main(tmp_path, segmenter_path, 2)
    measures = json.loads(path.read_text())
    scores = {name: group.pop("scores") for name, group in measures["groups"].items()}
    assert [group.pop("syntax") for group in measures["groups"].values()] == [None] * 3
    assert measures["groups"] == measured(segmenter)
    assert (measures["config"], measures["threshold"]) == (CONFIG, {"max_sum": 3.5})
    assert scores["all"]["candidates"] == 7
    assert scores["held_out"]["candidates"] == 2
    assert verify(tmp_path / "evaluation")["files"].keys() == {"measures.json"}


@pytest.mark.rest
@pytest.mark.slow
def test_trees(tmp_path, segmenter_path):
    syntax = {"levels": 2}
    write_folders(tmp_path / "one", [ROWS])
    write_folders(tmp_path / "two", [ROWS[:1], ROWS[1:]])
    one, two = (
        run_main(
            tmp_path / name,
            segmenter_path,
            len(shards),
            write_trees(tmp_path / name, shards) | {"threads": len(shards)},
            syntax=syntax,
        ).read_bytes()
        for name, shards in (("one", [ROWS]), ("two", [ROWS[:1], ROWS[1:]]))
    )
    assert one == two
    groups = json.loads(one)["groups"]
    # So the distances are those of the words: 2, 2, 6; 2, 2, 2; 1, 1, 1.
    assert [rank["tree_edit_distance"] for rank in groups["all"]["syntax"]["ranks"]] == [
        pytest.approx(5 / 3, abs=1e-6),
        pytest.approx(5 / 3, abs=1e-6),
        3,
    ]
    assert groups["held_out"]["syntax"]["ranks"][2]["tree_edit_distance"] == 2
    assert groups["held_out"]["syntax"]["references"] == 1


def test_trees_need_their_levels(tmp_path, segmenter_path):
    write_folders(tmp_path, [ROWS])
    options = write_trees(tmp_path, [ROWS])
    with pytest.raises(InputError, match="belong together"):
        run_main(tmp_path, segmenter_path, 1, options)
    with pytest.raises(InputError, match="belong together"):
        run_main(tmp_path, segmenter_path, 1, syntax={"levels": 2})


@pytest.mark.slow
def test_result_depends_neither_on_processes_nor_on_shards(tmp_path, segmenter_path):
    write_folders(tmp_path / "one", [ROWS])
    write_folders(tmp_path / "two", [ROWS[:1], ROWS[1:]])
    one = run_main(tmp_path / "one", segmenter_path, 1).read_bytes()
    two = run_main(tmp_path / "two", segmenter_path, 2, {"threads": 2}).read_bytes()
    assert one == two
