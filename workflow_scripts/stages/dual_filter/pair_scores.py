"""Score the pairs of a shard both ways with models of the trusted corpora (ParaBank 2, 3.1)."""

from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.rows import PairRow, PairScoreRow, Side
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.options import SCORED_TOKENS
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
        self.model = load_model(folder, device, precision)
        self._given, self._target = given, target
        self._given_segmenter = Segmenter(folder / f"{given}.model")
        self._target_segmenter = Segmenter(folder / f"{target}.model")

    def nlls(self, rows: Iterable[PairRow], batch_tokens: int) -> Iterator[float]:
        """Yield each pair's NLL on the Viterbi segmentations, in nats per target token.

        It is infinite where a side is longer than the model takes.
        """
        pairs = ((self.read(row[self._given]), self.write(row[self._target])) for row in rows)
        return score(self.model, pairs, batch_tokens=batch_tokens)

    def read(self, text: str) -> list[int]:
        """Return the piece ids of a text that the model reads."""
        return self.model.source_ids(self._given_segmenter.pieces(text))

    def write(self, text: str) -> list[int]:
        """Return the piece ids of a text that the model writes."""
        return self.model.target_vocab.ids(self._target_segmenter.pieces(text))


def both_directions(
    forward: Path, backward: Path, device: str, precision: str
) -> tuple[Direction, Direction]:
    """Return the models of two folders: from source to reference, and back."""
    return (
        Direction(forward, "source", "reference", device, precision),
        Direction(backward, "reference", "source", device, precision),
    )


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
    pairs: Path,
    forward: Path,
    backward: Path,
    output: Path,
    device: Device = "auto",
    batch_tokens: int = SCORED_TOKENS,
    threads: int = 1,
) -> None:
    """Score the untrusted pairs of a shard both ways.

    Args:
        config: of the unit; the pairs of the corpora `skip` are left out.
        pairs: a shard of clean pairs.
        forward: folder of that model.
        backward: folder of that model.
    """
    torch.set_num_threads(threads)
    there, back = both_directions(forward, backward, device, config["precision"])
    skip = set(config["skip"])
    tally = Tally()

    def to_score(rows: Iterator[PairRow]) -> Iterator[PairRow]:
        for row in rows:
            if row["corpus"] in skip:
                tally.rejected["trusted"] += 1
            else:
                yield row

    def scored(rows: Iterator[PairRow]) -> Iterator[PairScoreRow]:
        return score_pairs(to_score(rows), there, back, batch_tokens)

    write_shard(Input(pairs, PairRow).rows(), scored, output, PairScoreRow, "dual_filter", tally)


main = command(score_shard, __name__)
