"""Score the pairs of a shard both ways with models of the trusted corpora (ParaBank 2, 3.1)."""

import argparse
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.rows import PairRow, PairScoreRow, Side
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.options import SCORING_BATCH, parse_with_compute
from workflow_scripts.nmt.scoring import score
from workflow_scripts.stages.subword.segmenter import Segmenter


class Direction:
    """A model of one direction with the sub-word models of its two sides."""

    def __init__(self, folder: Path, given: Side, target: Side, device: str, precision: str):
        """Load a model folder whose `given` side predicts the `target` side.

        Raises:
            InputError: the folder is not what its training wrote, or can't be used.
        """
        verify(folder / "model")
        self._model = load_model(folder, device, precision)
        self._given, self._target = given, target
        self._given_segmenter = Segmenter(folder / f"{given}.model")
        self._target_segmenter = Segmenter(folder / f"{target}.model")

    def nlls(self, rows: Iterable[PairRow], batch_tokens: int) -> Iterator[float]:
        """Yield each pair's NLL on the Viterbi segmentations, in nats per target token.

        It is infinite where a side is longer than the model takes.
        """
        model = self._model
        pairs = (
            (
                model.source_ids(self._given_segmenter.pieces(row[self._given])),
                model.target_vocab.ids(self._target_segmenter.pieces(row[self._target])),
            )
            for row in rows
        )
        return score(self._model, pairs, batch_tokens=batch_tokens)


def score_pairs(
    rows: Iterable[PairRow], forward: Direction, backward: Direction, batch_tokens: int
) -> Iterator[PairScoreRow]:
    """Yield the scores of every pair, in order.

    Both directions read ahead; memory holds no more than their buffers.
    """
    rows, to_forward, to_backward = tee(rows, 3)
    forward_nlls = forward.nlls(to_forward, batch_tokens)
    backward_nlls = backward.nlls(to_backward, batch_tokens)
    for row, forward_nll, backward_nll in zip(rows, forward_nlls, backward_nlls, strict=True):
        yield {"id": row["id"], "forward_nll": forward_nll, "backward_nll": backward_nll}


def score_shard(
    config: dict[str, Any],
    input_path: Path,
    forward: Direction,
    backward: Direction,
    output: Path,
    batch_tokens: int,
) -> None:
    """Score a shard's pairs, except those of `config["skip"]`, into a file with its record."""
    skip = set(config["skip"])
    tally = Tally()

    def to_score(rows: Iterator[PairRow]) -> Iterator[PairRow]:
        for row in rows:
            if row["corpus"] in skip:
                tally.rejected["trusted"] += 1
            else:
                yield row

    def scored(rows: Iterator[PairRow]) -> Iterator[PairScoreRow]:
        return score_pairs(to_score(rows), forward, backward, batch_tokens)

    pairs = Input(input_path, PairRow)
    write_shard(pairs.rows(), scored, output, PairScoreRow, "dual_filter", tally)


def main(argv: list[str] | None = None) -> None:
    """Score the untrusted pairs of a shard both ways."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--input", type=Path, required=True, help="shard of clean pairs")
    parser.add_argument("--forward", type=Path, required=True, help="folder of that model")
    parser.add_argument("--backward", type=Path, required=True, help="folder of that model")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parse_with_compute(parser, argv, SCORING_BATCH)
    config = arguments.config
    on = {"device": arguments.device, "precision": config["precision"]}
    score_shard(
        config,
        arguments.input,
        Direction(arguments.forward, "source", "reference", **on),
        Direction(arguments.backward, "reference", "source", **on),
        arguments.output,
        arguments.batch_tokens,
    )


if __name__ == "__main__":
    run(main)
