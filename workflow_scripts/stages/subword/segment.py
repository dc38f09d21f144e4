"""Cut a shard of pairs into pieces: training data with sampled segmentations (Kudo 2018)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.rows import PairRow, SegmentRow, Side
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.core.seeding import generator
from workflow_scripts.stages.subword.segmenter import Segmenter, sample_segmentations


def check_config(config: dict[str, Any]) -> None:
    """Refuse sampled segmentations of a model that has no n-best list."""
    if config["samples"] and config["model_type"] != "unigram":
        raise InputError(
            f"subword.samples {config['samples']} needs model_type unigram: "
            f"{config['model_type']} models have one segmentation only (set samples: 0)"
        )


def split_of(corpus: str, config: dict[str, Any]) -> str | None:
    """Return what the pairs of a corpus are for: train, dev or test; None for nothing."""
    if corpus == config["dev"]:
        return "dev"
    if corpus == config["test"]:
        return "test"
    return "train" if corpus in config["train"] else None


def segment_pair(
    row: PairRow, split: str, segmenters: dict[Side, Segmenter], config: dict[str, Any]
) -> Iterator[SegmentRow]:
    """Yield the segments of one pair.

    A training pair gives `samples` copies, both sides drawn independently from their `nbest` best
    segmentations; with `samples` 0, and in dev and test, one copy with the Viterbi segmentation.
    """
    sampled = split == "train" and config["samples"] > 0
    sides = {}
    for side, segmenter in segmenters.items():
        text = row[side]
        sides[side] = (
            sample_segmentations(
                segmenter,
                text,
                config["samples"],
                config["nbest"],
                config["alpha"],
                generator(config["seed"], "segment", side, row["id"]),
            )
            if sampled
            else [segmenter.pieces(text)]
        )
    for copy, (source, reference) in enumerate(
        zip(sides["source"], sides["reference"], strict=True)
    ):
        yield {
            "id": row["id"],
            "split": split,
            "copy": copy,
            "source": " ".join(source),
            "reference": " ".join(reference),
        }


def segment_shard(
    config: dict[str, Any], input: Path, source_model: Path, reference_model: Path, output: Path
) -> None:
    """Cut a shard of pairs into sub-word pieces.

    The record counts pairs; `extra` has the pairs and the segments of each split.
    """
    check_config(config)
    models: dict[Side, Path] = {"source": source_model, "reference": reference_model}
    segmenters: dict[Side, Segmenter] = {}
    for side, path in models.items():
        verify(path)
        segmenters[side] = Segmenter(path)
    tally = Tally()

    def segments(rows: Iterator[PairRow]) -> Iterator[SegmentRow]:
        used: Counter[str] = Counter()
        written = 0
        for row in rows:
            split = split_of(row["corpus"], config)
            if split is None:
                tally.rejected["corpus_not_used"] += 1
                continue
            used[split] += 1
            for segment in segment_pair(row, split, segmenters, config):
                yield segment
                written += 1
        tally.used = used.total()
        tally.extra = {"pairs": used, "segments": written}

    pairs = Input(input, PairRow).rows()
    write_shard(pairs, segments, output, SegmentRow, f"segment {input.stem}", tally)


main = command(segment_shard, __name__)
