import json
from collections import Counter

import pytest

from tests.golden.inputs import arguments
from tests.unit.subword.conftest import write_pairs
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import SegmentRow
from workflow_scripts.stages.subword.segment import main, segment_pair, split_of
from workflow_scripts.stages.subword.segmenter import Segmenter

CONFIG = {
    **{"samples": 4, "nbest": 16, "alpha": 0.1, "train": ["a", "b"], "dev": "dev"},
    **{"test": "test", "model_type": "unigram", "seed": 1},
}
ROW = {"id": "a:1", "source": "kočka vidí pes 12.", "reference": "kočka vidí dům 7."}


@pytest.fixture
def segmenters(segmenter) -> dict[str, Segmenter]:
    return {"source": segmenter, "reference": segmenter}


@pytest.fixture
def shard(tmp_path, pair_rows, segmenter):
    """Run the command line on one shard and return the output file."""
    model = tmp_path / "toy.model"
    model.write_bytes(segmenter.path.read_bytes())
    write_record(model, 1, 1, {})

    def run(name: str, **changes):
        pairs = write_pairs(tmp_path / name, pair_rows, shards=1)[0]
        output = tmp_path / f"{name}.segments" / "0000.parquet"
        models = dict.fromkeys(("source_model", "reference_model"), model)
        main(arguments(CONFIG | changes, input=pairs, **models, output=output))
        return output

    return run


def test_training_pairs_give_sampled_copies_of_both_sides(segmenter, segmenters):
    copies = list(segment_pair(ROW, "train", segmenters, CONFIG | {"samples": 40}))
    assert [row["copy"] for row in copies] == list(range(40))
    distinct = {side: {row[side] for row in copies} for side in ("source", "reference")}
    for side, segmentations in distinct.items():
        assert {segmenter.text(pieces.split()) for pieces in segmentations} == {ROW[side]}
        assert len(segmentations) > 5
    # Drawn independently, the two sides combine in more ways than either has.
    combinations = {(row["source"], row["reference"]) for row in copies}
    assert len(combinations) > 2 * max(map(len, distinct.values()))


def test_copies_depend_on_the_id_and_the_seed(segmenters):
    first = list(segment_pair(ROW, "train", segmenters, CONFIG))
    assert list(segment_pair(ROW, "train", segmenters, CONFIG)) == first
    assert list(segment_pair(ROW, "train", segmenters, CONFIG | {"seed": 2})) != first
    other = [
        row | {"id": "a:1"}
        for row in segment_pair(ROW | {"id": "a:2"}, "train", segmenters, CONFIG)
    ]
    assert other != first


@pytest.mark.parametrize(("split", "samples"), [("train", 0), ("dev", 4), ("test", 4)])
def test_else_there_is_one_viterbi_copy(segmenter, segmenters, split, samples):
    rows = list(segment_pair(ROW, split, segmenters, CONFIG | {"samples": samples}))
    assert rows == [
        {
            "id": "a:1",
            "split": split,
            "copy": 0,
            "source": " ".join(segmenter.pieces(ROW["source"])),
            "reference": " ".join(segmenter.pieces(ROW["reference"])),
        }
    ]


def test_splits_go_by_corpus():
    found = [split_of(corpus, CONFIG) for corpus in ("a", "b", "dev", "test", "other")]
    assert found == ["train", "train", "dev", "test", None]
    assert split_of("dev", CONFIG | {"dev": None}) is None


@pytest.mark.slow
def test_a_shard_is_segmented_counted_and_repeatable(shard):
    output = shard("one")
    rows = list(read_rows(output, SegmentRow))
    assert Counter(row["split"] for row in rows) == {"train": 480, "dev": 60, "test": 60}
    record = json.loads(output.with_suffix(".json").read_text())
    assert (record["rows_in"], record["rows_out"]) == (300, 240)
    assert record["rejected"] == {"corpus_not_used": 60}
    assert record["extra"] == {"pairs": {"train": 120, "dev": 60, "test": 60}, "segments": 600}
    assert shard("two").read_bytes() == output.read_bytes()


def test_sampled_segmentations_of_bpe_are_refused(shard):
    with pytest.raises(InputError, match=r"samples 4 needs model_type unigram.*samples: 0"):
        shard("bpe", model_type="bpe")
