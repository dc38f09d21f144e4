"""Cut a shard of pairs into pieces: training data with sampled segmentations (Kudo 2018)."""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import json_argument, run
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
    config: dict[str, Any], pairs: Path, segmenters: dict[Side, Segmenter], output: Path
) -> None:
    """Segment a shard of pairs; write the segments and their record.

    The record counts pairs; `extra` has the pairs and the segments of each split.
    """
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

    rows = Input(pairs, PairRow).rows()
    write_shard(rows, segments, output, SegmentRow, f"segment {pairs.stem}", tally)


def main(argv: list[str] | None = None) -> None:
    """Cut a shard of pairs into sub-word pieces."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--input", type=Path, required=True, help="shard of pairs")
    parser.add_argument("--source-model", type=Path, required=True)
    parser.add_argument("--reference-model", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    check_config(arguments.config)
    models: dict[Side, Path] = {
        "source": arguments.source_model,
        "reference": arguments.reference_model,
    }
    segmenters: dict[Side, Segmenter] = {}
    for side, path in models.items():
        verify(path)
        segmenters[side] = Segmenter(path)
    segment_shard(arguments.config, arguments.input, segmenters, arguments.output)


if __name__ == "__main__":
    run(main)
