"""Gather the sampled references of several early shards into one late shard."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.files.rows import PairRow, ReferenceRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.stages.generate.sample_references import RECORD, Place, place


def rejection(row: PairRow, cutoffs: dict[str, Place | None], seed: int) -> str:
    """Return why a pair's reference is not paraphrased; empty where it is.

    Args:
        row: the pair.
        cutoffs: the last (number, id) of the sample of each corpus; None for all of it.
        seed: the one the cut-offs were found with.
    """
    if row["corpus"] not in cutoffs:
        return "other_corpus"
    last = cutoffs[row["corpus"]]
    return "not_sampled" if last is not None and place(seed, row["id"]) > tuple(last) else ""


def read_sample(path: Path, config: dict[str, Any]) -> dict[str, Any]:
    """Return what `sample_references` wrote for this config.

    Raises:
        InputError: it is damaged, or was written for another config.
    """
    sample = read_json(path, RECORD)
    if any(sample[key] != value for key, value in config.items()):
        raise InputError(f"{path} was made for another config; delete it and run again")
    return sample


def gather(config: dict[str, Any], sample: Path, pairs: list[Path], output: Path) -> None:
    """Stream the sampled references of `pairs` shards, in order, into one shard."""
    chosen = read_sample(sample, config)
    tally = Tally()

    def sampled(rows: Iterator[PairRow]) -> Iterator[PairRow]:
        for row in rows:
            reason = rejection(row, chosen["cutoffs"], chosen["seed"])
            if reason:
                tally.rejected[reason] += 1
            else:
                yield row

    write_shard(Input(pairs, PairRow).rows(), sampled, output, ReferenceRow, "references", tally)


main = command(gather, __name__)
