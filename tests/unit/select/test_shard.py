import re
from collections import Counter
from pathlib import Path

import pytest
import sentencepiece

from tests.golden.inputs import arguments
from tests.tables import candidate, pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import read_record, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import JudgedRow, ParaphrasesRow, ScoredRow
from workflow_scripts.plan.schema import definition
from workflow_scripts.stages.select import methods
from workflow_scripts.stages.select.methods import REASONS
from workflow_scripts.stages.select.probability import ProbabilityBound
from workflow_scripts.stages.select.shard import (
    FEW_CANDIDATES,
    NO_CANDIDATES,
    Summary,
    choose,
    describe,
    main,
    select,
    select_shard,
)
from workflow_scripts.stages.select.threshold import RECORD

ROOT = Path(__file__).resolve().parents[3]
CONFIG = {"method": "cluster", "clusters": 2, "best": 2}


def row(number, candidates):
    return {**pair(f"c:{number}", "z", "The dog sleeps."), "candidates": candidates}


ROWS = [
    row(
        1,
        [
            candidate("a hound is napping", 0.5, 0.5),
            candidate("sleep has come over this animal now", 1.0, 1.0),
            candidate("the dog slept", 0.25, 0.25),
            candidate("The dog sleeps!", 0.25, 0.125),
            candidate("dogs and cats and birds and fish", 3.0, 1.5),
            candidate("nonsense", 4.0, None),
        ],
    ),
    row(2, [candidate("nonsense", 4.0, None), candidate("the dog sleeps", 0.5, 0.5)]),
    row(3, []),
    row(4, [candidate("a hound is napping", 0.5, 0.5)]),
]


def test_a_full_list_has_no_reason():
    selected, rejected = select(ROWS[0], CONFIG, 3.5, str.split)
    assert [(found["rank"], found["text"]) for found in selected["paraphrases"]] == [
        (1, "a hound is napping"),
        (2, "sleep has come over this animal now"),
    ]
    assert (selected["candidates"], selected["kept"], selected["reason"]) == (6, 4, "")
    assert rejected == {"above_threshold": 2, "same_as_reference": 1, "reference_cluster": 1}


def test_a_short_list_says_why():
    selected, _ = select(ROWS[1], CONFIG, 3.5, str.split)
    assert selected["paraphrases"] == []
    assert selected["reason"] == "above_threshold 1, same_as_reference 1"
    selected, _ = select(ROWS[2], CONFIG, 3.5, str.split)
    assert selected["reason"] == "no_candidates"
    selected, _ = select(ROWS[3], CONFIG, 3.5, str.split)
    assert (len(selected["paraphrases"]), selected["reason"]) == (1, "few_candidates")


def test_what_a_later_rule_keeps_out_is_counted_where_there_is_any():
    rejected, summary = Counter({"too_long": 2, "outranked": 1}), Summary()
    assert describe(3, rejected) == "outranked 1, too_long 2"
    selected, _ = select(ROWS[1], CONFIG, 3.5, str.split)
    summary.add(selected, rejected)
    counted = dict.fromkeys((*REASONS, "selected"), 0) | {"too_long": 2, "outranked": 1}
    assert summary.as_dict()["candidates"] == counted


def test_the_page_describes_every_key_of_keep():
    page = (ROOT / "docs" / "select.md").read_text(encoding="utf-8")
    found = re.findall(r"(?m)^\| `keep: \{(\w+):", page)
    assert set(found) == definition("keep")["properties"].keys()


def test_the_page_describes_every_reason():
    page = (ROOT / "docs" / "select.md").read_text(encoding="utf-8")
    table = page.partition("\n| code | the candidate ... |")[2].partition("\n\n")[0]
    named = vars(methods) | {"NO": NO_CANDIDATES, "FEW": FEW_CANDIDATES}
    reasons = {each for name, each in named.items() if name.isupper() and type(each) is str}
    assert set(re.findall(r"(?m)^\| `(\w+)`", table)) == reasons


def test_other_methods_take_the_lowest_forward_nll():
    selected, _ = select(ROWS[0], {"method": "best", "best": 5}, 3.5, str.split)
    assert [found["text"] for found in selected["paraphrases"]] == ["the dog slept"]
    assert selected["paraphrases"][0]["cluster"] is None and selected["reason"] == ""
    selected, _ = select(ROWS[0], {"method": "nbest", "best": 9}, 3.5, str.split)
    assert [found["forward_nll"] for found in selected["paraphrases"]] == [0.25, 0.5, 1.0]
    assert selected["reason"] == "above_threshold 2, same_as_reference 1"


@pytest.fixture(scope="module")
def segmenter(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("subword") / "reference"
    sentences = [found["text"] for found in ROWS[0]["candidates"]] * 20
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_prefix=str(prefix),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    path = prefix.with_suffix(".model")
    write_record(path.with_name("model"), 0, 0, {}, files=[path])
    return path


def test_how_the_clusters_begin_is_up_to_the_system():
    def candidate(text, total):
        return {"text": text, "sum": total, "forward_nll": total, "probability": None}

    reference, near, far, further = "a a a a a a", "a a a a b b", "c c c c c c", "c c c c c d"
    candidates = [candidate(near, 0.1), candidate(far, 0.2), candidate(further, 0.3)]

    def kept(**more):
        chosen, _ = choose(candidates, reference, {**CONFIG, **more}, str.split)
        return [each.candidate["text"] for each in chosen]

    assert kept() == kept(centres="apart") == [near, far]
    assert kept(centres="far") == [far, further]


def test_main_writes_every_reference_and_adds_up(tmp_path, segmenter):
    scored = tmp_path / "scored.parquet"
    write_table(scored, ScoredRow, ROWS)
    write_json(tmp_path / "threshold.json", {"max_sum": 3.5})
    write_record(tmp_path / RECORD, 0, 0, {}, files=[tmp_path / "threshold.json"])

    def run_main(output):
        files = {"scored": scored, "threshold": tmp_path / "threshold.json"}
        main(arguments(CONFIG, **files, model=segmenter.parent, output=output))
        return output.read_bytes()

    output = tmp_path / "out" / "0000.parquet"
    assert run_main(output) == run_main(tmp_path / "again.parquet")
    rows = list(read_rows(output, ParaphrasesRow))
    assert [found["id"] for found in rows] == ["c:1", "c:2", "c:3", "c:4"]
    assert len(rows[0]["paraphrases"]) == 2
    record = read_record(output)
    assert (record["rows_in"], record["rows_out"]) == (4, 4)
    assert sum(record["extra"]["candidates"].values()) == 9
    assert record["extra"]["references_by_paraphrases"] == {"0": 2, "1": 1, "2": 1}
    assert record["extra"]["short_references_by_reason"] == {
        "above_threshold": 1,
        "same_as_reference": 1,
        "no_candidates": 1,
        "few_candidates": 1,
    }


JUDGED = CONFIG | {"method": "judged", "judge": "mine", "language": "en"}


def test_a_judge_ranks_drops_and_counts_nearly_equal_ones_once():
    probabilities = [0.75, 0.9, 0.8, None, 0.2, None]
    candidates = [*ROWS[0]["candidates"][:4], candidate("the dog\u2019s slept", 0.5, 0.5)]
    found, rejected = select(
        row(1, [*candidates, candidate("a hound, is napping", 0.1, 0.1)]),
        JUDGED,
        3.5,
        str.split,
        [*probabilities[:5], 0.7],
        ProbabilityBound([], [0.5]),
    )
    assert [(each["text"], each["probability"]) for each in found["paraphrases"]] == [
        ("sleep has come over this animal now", 0.9),
        ("a hound is napping", 0.75),
    ]
    assert rejected == {
        "same_as_reference": 1,
        "below_probability": 1,
        "nearly_equal": 1,
        "reference_cluster": 1,
    }
    assert found["kept"] == 5


@pytest.mark.parametrize("method", ["cluster", "judged", "nbest", "best"])
def test_near_doubles_count_once_and_new_words_are_demanded_by_any_method(method):
    candidates = [
        candidate("a hound is napping", 0.1, 0.1),
        candidate("the hound was napping", 0.2, 0.2),
        candidate("some dogs nap", 0.3, 0.3),
        candidate("the dog that sleeps", 0.4, 0.4),
    ]
    judge = {"judge": "mine"} if method == "judged" else {}
    config = {"method": method, "clusters": 4, "best": 4, "language": "en", **judge}

    def found(**options):
        known = [0.5, 0.9, 0.8, 0.7] if judge else None
        row_, left_out = select(row(1, candidates), config | options, 9, str.split, known)
        return {each["text"] for each in row_["paraphrases"]}, left_out

    _, left_out = found(distinct="content")
    assert left_out["nearly_equal"] == 1
    texts, left_out = found(distinct="content", new_words=2)
    best, other = [each["text"] for each in candidates[:2]][:: -1 if judge else 1]
    assert best in texts and other not in texts
    assert (left_out["nearly_equal"], left_out["few_new_words"]) == (1, 1)
    texts, left_out = found(new_words=3)
    assert (texts, left_out) == (set(), {"few_new_words": 4})


def test_without_a_bound_a_judge_only_ranks():
    config = {"method": "nbest", "best": 2, "score": "judge", "judge": "mine", "language": "en"}
    found, _ = select(ROWS[3], config, 3.5, str.split, [0.01])
    assert [each["probability"] for each in found["paraphrases"]] == [pytest.approx(0.01)]
    found, rejected = select(ROWS[3], config, 3.5, str.split, [None])
    assert not found["paraphrases"] and rejected == {"below_probability": 1}


def test_none_left_is_a_valid_answer():
    found, _ = select(ROWS[3], JUDGED, 3.5, str.split, [0.4], ProbabilityBound([], [0.5]))
    assert (found["paraphrases"], found["reason"]) == ([], "below_probability 1")


def test_probabilities_of_other_candidates_are_refused(tmp_path, segmenter):
    write_table(tmp_path / "scored.parquet", ScoredRow, ROWS[:1])
    write_json(tmp_path / "threshold.json", {"max_sum": 3.5})
    write_record(tmp_path / RECORD, 0, 0, {}, files=[tmp_path / "threshold.json"])
    for number, judged in enumerate(
        [[{"id": "c:1", "probabilities": [0.5]}], [{"id": "c:2", "probabilities": [0.5] * 6}], []]
    ):
        path = tmp_path / f"judged{number}.parquet"
        write_table(path, JudgedRow, judged)
        with pytest.raises(InputError, match="c:1 has other candidates than were judged"):
            select_shard(
                JUDGED,
                tmp_path / "scored.parquet",
                tmp_path / "threshold.json",
                segmenter.parent,
                tmp_path / "out.parquet",
                path,
            )
