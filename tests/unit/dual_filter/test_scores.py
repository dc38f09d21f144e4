import math

import pytest

from tests.golden.inputs import arguments
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairScoreRow
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.scoring import score
from workflow_scripts.stages.dual_filter import keep
from workflow_scripts.stages.dual_filter.pair_scores import main
from workflow_scripts.stages.subword.segmenter import Segmenter

CONFIG = {"skip": ["trusted"], "precision": "fp32"}


def run_scores(models, pairs, output, **options):
    main(arguments(CONFIG, pairs=pairs, output=output, **models, device="cpu", **options))
    return list(read_rows(output, PairScoreRow))


@pytest.mark.slow
def test_untrusted_pairs_are_scored_both_ways_in_order(tmp_path, models, pairs, write_pairs):
    rows = run_scores(models, write_pairs(pairs), tmp_path / "scores.parquet")
    untrusted = [pair for pair in pairs if pair["corpus"] == "web"]
    assert [row["id"] for row in rows] == [pair["id"] for pair in untrusted]
    for name, given, target in (
        ("forward", "source", "reference"),
        ("backward", "reference", "source"),
    ):
        model = load_model(models[name], "cpu")
        pieces = {
            side: Segmenter(models[name] / f"{side}.model").pieces for side in (given, target)
        }
        for row, pair in zip(rows[:-1], untrusted[:-1], strict=True):
            ids = (
                model.source_vocab.ids(pieces[given](pair[given])),
                model.target_vocab.ids(pieces[target](pair[target])),
            )
            (alone,) = score(model, [ids])
            assert row[f"{name}_nll"] == pytest.approx(alone, abs=1e-5)
    assert rows[-1]["forward_nll"] == rows[-1]["backward_nll"] == math.inf
    record = verify(tmp_path / "scores.parquet")
    assert record["rows_in"] == len(pairs)
    assert record["rejected"] == {"trusted": len(pairs) - len(untrusted)}


@pytest.mark.slow
def test_scores_depend_neither_on_batches_nor_on_neighbours(tmp_path, models, pairs, write_pairs):
    whole = write_pairs(pairs)
    rows = run_scores(models, whole, tmp_path / "one.parquet")
    small = run_scores(models, whole, tmp_path / "two.parquet", batch_tokens=1)
    half = run_scores(models, write_pairs(pairs[6:], "half"), tmp_path / "half.parquet")
    for other, expected in ((small, rows), (half, rows[-len(half) :])):
        assert [row["id"] for row in other] == [row["id"] for row in expected]
        for row, wanted in zip(other, expected, strict=True):
            assert row["forward_nll"] == pytest.approx(wanted["forward_nll"], abs=1e-5)
            assert row["backward_nll"] == pytest.approx(wanted["backward_nll"], abs=1e-5)


HOSTILE = [
    "<s> </s> <unk> <pad>",
    "\u2581pes\u2581\u2581",
    "\U0001f600\u202e\u200b\u0301",
    "$(touch pwned) `touch pwned` '\"; {[&*!",
    "\ufeff",
    "\u0000\u0001",
    "",
]


def test_any_text_has_scores(tmp_path, models, write_pairs):
    pairs = [
        {"id": f"c:{number}", "source": text, "reference": "dog", "corpus": "web"}
        for number, text in enumerate([*HOSTILE, "pes"])
    ]
    rows = run_scores(models, write_pairs(pairs), tmp_path / "scores.parquet")
    assert len(rows) == len(pairs)
    assert all(min(row["forward_nll"], row["backward_nll"]) >= 0 for row in rows)
    # A side without pieces is unreadable; strange pieces are unknown, not refused.
    assert rows[-2]["forward_nll"] == math.inf
    assert all(math.isfinite(rows[index]["forward_nll"]) for index in (0, 1, 3, -1))


@pytest.mark.slow
def test_another_threshold_needs_no_rescoring(tmp_path, models, pairs, write_pairs):
    whole, scores = write_pairs(pairs), tmp_path / "scores.parquet"
    sums = [row["forward_nll"] + row["backward_nll"] for row in run_scores(models, whole, scores)]
    for bound in sorted(sums)[:-1]:
        output = tmp_path / "kept.parquet"
        config = {"method": "sum", "max_sum": bound, "trusted": ["trusted"]}
        keep.main(arguments(config, pairs=whole, scores=scores, output=output))
        trusted = len(pairs) - len(sums)
        assert verify(output)["rows_out"] == trusted + sum(total <= bound for total in sums)
