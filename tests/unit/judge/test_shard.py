"""Probabilities of the candidates of a shard."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests import tables
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import JudgedRow, ScoredRow
from workflow_scripts.nmt.divergence import Group, compared
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.stages.judge import shard
from workflow_scripts.stages.judge.bench import Bench, Decoder, with_comparison
from workflow_scripts.stages.judge.features import Models
from workflow_scripts.stages.judge.known_pairs import Pairs
from workflow_scripts.stages.judge.shard import judge_shard, judge_stream, to_judge
from workflow_scripts.stages.subword.segmenter import Segmenter


class Ruler:
    """Stands in for a judge: the share of the reference's length, and it keeps what it was asked.

    Its features can be any, and all are looked at.
    """

    def __init__(self, *features, answer=None):
        self.features = ("length_ratio", *features)
        self.answer = answer
        self.asked = []

    def probability(self, features, words):
        self.asked.append(features)
        assert len(words) == len(features["length_ratio"])
        if self.answer is not None:
            return np.full(len(words), self.answer)
        return np.minimum(1.0, features["length_ratio"] / 2)


def candidate(text, total, forward=0.5, **more):
    backward = None if total is None else total - forward
    return tables.candidate(text, forward, backward, **more)


def scored(number, *candidates):
    return tables.pair(f"c:{number}", "z z", "a b c d") | {"candidates": list(candidates)}


def own_scores(*backward):
    """Return the scores of the references `c:1` and so on."""
    nlls = {"corpus": "c", "forward_nll": 2.0, "sum": 0.0}
    return [{"id": f"c:{n}", "backward_nll": nll} | nlls for n, nll in enumerate(backward, 1)]


ROWS = [
    scored(
        1,
        candidate("a b", 1.0, lost=2.0, divergence=0.5),
        candidate("A, B, C, D!", 1.0, lost=0.0, divergence=0.0),
        candidate("a b c", 4.0, lost=-1.0, divergence=0.25),
        candidate("e", None),
        candidate("e f g h", math.inf),
    ),
    scored(2),
    scored(3, candidate("x", 2.0)),
]


def judged(rows, bench, own=None):
    return [row["probabilities"] for row in judge_stream(rows, own, bench)]


def test_only_what_can_be_chosen_is_judged():
    assert to_judge(ROWS[0], math.inf) == [0, 2]
    assert to_judge(ROWS[0], 3.5) == [0]
    assert judged(ROWS, Bench(Ruler(), Models())) == [[0.25, None, 0.375, None, None], [], [0.125]]
    assert judged(ROWS, Bench(Ruler(), Models(), max_sum=3.5))[0] == [0.25] + [None] * 4


def test_the_judge_gets_what_score_knows():
    compared = ("divergence", "source_lost")
    judge = Ruler("forward_nll", "backward_nll", "forward_gain", "backward_gain", *compared)
    judged(ROWS, Bench(judge, Models()), own_scores(3.0, 1.0, math.inf))
    (asked,) = judge.asked
    assert asked["forward_nll"].tolist() == [0.5, 0.5, 0.5]
    assert asked["backward_nll"].tolist() == [0.5, 3.5, 1.5]
    assert asked["forward_gain"].tolist() == [1.5, 1.5, 1.5]
    assert asked["backward_gain"][:2].tolist() == [2.5, -0.5]
    assert math.isnan(asked["backward_gain"][2])
    least = 0.05
    np.testing.assert_allclose(asked["divergence"], np.log([0.5 + least, 0.25 + least, np.nan]))
    np.testing.assert_allclose(asked["source_lost"], np.log([2 + least, least, np.nan]))


def test_of_merged_paraphrases_what_is_compared_is_unknown():
    judge = Ruler("backward_nll", "divergence", "source_lost")
    judged([scored(1, candidate("a b", 1.0), candidate("c", 2.0))], Bench(judge, Models()))
    (asked,) = judge.asked
    assert asked["backward_nll"].tolist() == [0.5, 1.5]
    assert all(np.isnan(asked[name]).all() for name in ("divergence", "source_lost"))


def test_what_a_backward_model_compares_stands_beside_an_nll_that_is_known(nmt_oracle, tmp_path):
    model = load_model(nmt_oracle.copy_model(tmp_path), "cpu")

    def coder(side, vocabulary):
        segmenter = Segmenter(tmp_path / f"{side}.model")
        return lambda text: vocabulary.ids(segmenter.pieces(text))

    read, write = coder("source", model.source_vocab), coder("reference", model.target_vocab)
    (own, text), (other, _), *_ = nmt_oracle.sentences
    known = np.array([9.0, np.nan, np.nan, np.nan])
    long = f"{own} " * 200
    pairs = Pairs([own, own, long, own], [other, other, other, long], [text] * 4)
    asked = with_comparison(pairs, model, read, write, 64)
    beside = with_comparison(replace(pairs, backward_nll=known), model, read, write)
    ids = [read(own), read(other)]
    [[expected]] = compared(model, [Group(write(text), ids[0], ids[1:])])
    nll, lost, divergence = expected
    for found, first in ((asked, nll), (beside, 9.0)):
        nlls = [first, nll, nll, np.nan]
        np.testing.assert_allclose(found.backward_nll, nlls, atol=1e-4)
        np.testing.assert_allclose(found.lost, [lost, lost, np.nan, np.nan], atol=1e-3)
        np.testing.assert_allclose(found.divergence, [divergence] * 2 + [np.nan] * 2, atol=1e-3)


def test_windows_do_not_matter(monkeypatch):
    whole = judged(ROWS * 3, Bench(Ruler(), Models()))
    monkeypatch.setattr(shard, "WINDOW", 2)
    assert judged(ROWS * 3, Bench(Ruler(), Models())) == whole


def test_scores_of_other_references_are_refused():
    with pytest.raises(InputError, match="scores of the references are of other references"):
        judged([scored(9)], Bench(Ruler(), Models()), own_scores(1.0))


def test_what_the_judge_knows_too_little_of_has_no_probability():
    class Partly(Ruler):
        def probability(self, features, words):
            probabilities = super().probability(features, words)
            return np.where(probabilities > 0.3, np.nan, probabilities)

    assert judged(ROWS, Bench(Partly(), Models())) == [[0.25] + [None] * 4, [], [0.125]]


def test_a_judge_that_knows_nothing_of_all_is_refused(tmp_path):
    path = tables.write_table(tmp_path / "scored.parquet", ScoredRow, ROWS)
    with pytest.raises(InputError, match=r"too little of all 3 candidates .* length_ratio"):
        judge_shard(path, None, tmp_path / "out.parquet", Bench(Ruler(answer=math.nan), Models()))


def test_a_shard_has_a_row_for_each_reference_and_counts(tmp_path):
    path = tables.write_table(tmp_path / "scored.parquet", ScoredRow, ROWS)
    output = tmp_path / "out" / "0000.parquet"
    judge_shard(path, None, output, Bench(Ruler(), Models()))
    rows = list(read_rows(output, JudgedRow))
    assert [row["id"] for row in rows] == ["c:1", "c:2", "c:3"]
    assert [len(row["probabilities"]) for row in rows] == [5, 0, 1]
    record = read_record(output)
    assert (record["rows_in"], record["rows_out"]) == (3, 3)
    assert record["extra"] == {"candidates": 6, "to_judge": 3, "judged": 3}


def test_forced_decoding_gives_total_and_worst(nmt_oracle, tmp_path):
    model = nmt_oracle.copy_model(tmp_path)
    source, reference = nmt_oracle.sentences[0]
    decoder = Decoder(model, "cpu", "fp32", 4096)
    pairs = Pairs([reference] * 2, [reference, ""], [source] * 2)
    decoded = decoder.decoded(pairs)
    assert decoded.forward_total[0] > decoded.forward_worst[0] > 0
    assert decoded.forward_total[1] == decoded.forward_worst[1] == math.inf
    judge = Ruler("forward_total")
    bench = Bench(judge, Models(), decoder)
    written, _ = nmt_oracle.sentences[1]
    texts = [candidate(f"{reference} x", 1.0, source=given) for given in (None, written, source)]
    row = {**scored(1, *texts), "source": source, "reference": reference}
    judged([row], bench)
    # Each is decoded from the source that it was scored against.
    own, others, again = judge.asked[0]["forward_total"]
    assert 0 < own == pytest.approx(again) and others != pytest.approx(own)


def test_references_that_a_system_leaves_out_are_passed_over():
    judge = Ruler("backward_gain")
    judged([ROWS[0], ROWS[2]], Bench(judge, Models()), own_scores(3.0, 1.0, 5.0))
    (asked,) = judge.asked
    assert asked["backward_gain"].tolist()[-1] == 3.5


def test_of_what_a_rewriter_wrote_the_forward_model_gives_the_nll(nmt_oracle, tmp_path):
    model = nmt_oracle.copy_model(tmp_path)
    source, text = nmt_oracle.sentences[0]
    pairs = Pairs(["r"], [text], sources=[source], forward_nll=np.array([9.0]))
    translated, rewritten_pairs = (
        Decoder(model, "cpu", "fp32", 1000, rewritten=rewritten).decoded(pairs)
        for rewritten in (False, True)
    )
    assert translated.forward_nll.tolist() == [9.0]
    pieces = len(Segmenter(model / "reference.model").pieces(text)) + 1
    assert rewritten_pairs.forward_nll[0] == pytest.approx(
        rewritten_pairs.forward_total[0] / pieces
    )
