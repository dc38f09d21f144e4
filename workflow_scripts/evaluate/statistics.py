"""Corpus statistics of one system's pairs, as ParaNMT-50M and its forerunner tabulate them.

PNMT is Wieting and Gimpel (ACL 2018), Tables 1 and 3; BT17 is Wieting et al. (EMNLP 2017), Tables
9 and 10. All is of a seeded sample of pairs, which bounds memory.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.atomic import write_json
from workflow_scripts.core.cli import run
from workflow_scripts.core.manifest import shard_paths, verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.evaluate.distributions import (
    Sentences,
    entropy,
    inverse_document_frequencies,
    mean_idf,
    ngrams,
    repetition,
    sentences,
    spearman,
)
from workflow_scripts.filter.pairs import Pairs, named_folder, read_pairs, verified_values
from workflow_scripts.filter.sample import last_within, place

# The record of statistics.json, which has the suffix of a record itself.
RECORD = "counting"
DECIMALS = 6
# Table 3 of PNMT: pairs by paraphrase score, up to and including each of these.
BIN_ENDS = (0.2, 0.4, 0.6, 0.8, 1.0)
ORDERS = {"unigrams": 1, "trigrams": 3}
# The kinds of columns that are one: cosines of the two sides.
PARAPHRASE_SCORES = ("vectors", "embedding")

Columns = dict[str, NDArray[np.float32]]


class Sample(NamedTuple):
    """Some pairs: `references[owners[i]]` belongs to paraphrase i."""

    references: list[str]  # of different ids
    paraphrases: list[str]
    columns: Columns  # overlap_3, and those that a model computed; unknown is NaN


def _figure(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), DECIMALS)


def spread(values: NDArray[Any]) -> dict[str, float | int | None]:
    """Return how many of the values are known, their mean and their standard deviation."""
    known = values[~np.isnan(values)].astype(np.float64)
    if not len(known):
        return {"count": 0, "mean": None, "deviation": None}
    return {
        "count": len(known),
        "mean": _figure(known.mean()),
        "deviation": _figure(known.std()),
    }


def side(some: Sentences, idf: NDArray[np.float64]) -> dict[str, Any]:
    """Return the figures of one side of a corpus (PNMT Table 1, BT17 Table 9)."""
    return {
        "sentences": len(some.lengths),
        "length": spread(some.lengths.astype(np.float64)),
        "idf": spread(mean_idf(some, idf)),
        "entropy": {name: _figure(entropy(ngrams(some, n)[0])) for name, n in ORDERS.items()},
        "repetition": {name: spread(repetition(some, n)) for name, n in ORDERS.items()},
    }


def difference(references: dict[str, Any], paraphrases: dict[str, Any]) -> dict[str, Any]:
    """Return reference minus paraphrase of entropy and repetition (BT17 Table 9)."""

    def minus(one: float | None, other: float | None) -> float | None:
        return None if one is None or other is None else round(one - other, DECIMALS)

    return {
        name: {
            "entropy": minus(references["entropy"][name], paraphrases["entropy"][name]),
            "repetition": minus(
                references["repetition"][name]["mean"], paraphrases["repetition"][name]["mean"]
            ),
        }
        for name in ORDERS
    }


def bins(scores: NDArray[np.float32], overlap: NDArray[np.float32]) -> list[dict[str, Any]]:
    """Return pairs and trigram overlap by bins of a score (PNMT Table 3)."""
    places = np.searchsorted(np.array(BIN_ENDS[:-1], np.float32), scores)
    places[np.isnan(scores)] = len(BIN_ENDS)
    return [{"to": end, **spread(overlap[places == number])} for number, end in enumerate(BIN_ENDS)]


def correlations(some: Sentences, idf: NDArray[np.float64], values: Any) -> dict[str, Any]:
    """Return Spearman's correlations of a column with repetition, IDF, length (BT17 Table 10)."""
    measures = {
        **{f"repetition_{name}": repetition(some, order) for name, order in ORDERS.items()},
        "idf": mean_idf(some, idf),
        "length": some.lengths.astype(np.float64),
    }
    values = values.astype(np.float64)
    return {name: _figure(spearman(values, measure)) for name, measure in measures.items()}


def statistics(sample: Sample, kinds: dict[str, str]) -> dict[str, Any]:
    """Return the statistics of some pairs.

    Args:
        sample: the pairs.
        kinds: of each column that a model computed: one of `PARAPHRASE_SCORES`, or `classifier`
            for the probability to be a reference.
    """
    numbers: dict[str, int] = {}
    references = sentences(progress(sample.references, desc="statistics, references"), numbers)
    paraphrases = sentences(progress(sample.paraphrases, desc="statistics, pairs"), numbers)
    idf = inverse_document_frequencies(references, max(len(numbers), 1))
    sides = {"references": side(references, idf), "paraphrases": side(paraphrases, idf)}
    return {
        "pairs": len(sample.paraphrases),
        "sides": sides,
        "difference": difference(**sides),
        "columns": {name: spread(sample.columns[name]) for name in ("overlap_3", *kinds)},
        "bins": {
            name: bins(sample.columns[name], sample.columns["overlap_3"])
            for name, kind in kinds.items()
            if kind in PARAPHRASE_SCORES
        },
        "correlations": {
            name: correlations(paraphrases, idf, sample.columns[name])
            for name, kind in kinds.items()
            if kind == "classifier"
        },
    }


def read_sample(shards: list[Path], values: dict[str, list[Path]], limit: int, seed: int) -> Sample:
    """Return a seeded sample of the pairs of `pair_columns` shards, `limit` at most."""

    def pairs(texts: list[str]) -> Iterator[tuple[Pairs, list[Any]]]:
        for some in read_pairs(shards, values, ["rank", "overlap_3"], texts):
            ids = some.texts.column("id").to_pylist()
            ranks = some.columns["rank"].astype(int)
            yield some, [place(seed, *each) for each in zip(ids, ranks.tolist(), strict=True)]

    def places() -> Iterator[tuple[Any, int]]:
        for _, found in pairs(["id"]):
            yield from ((each, 1) for each in found)

    last = last_within(places, limit)
    references: dict[str, str] = {}
    paraphrases: list[str] = []
    columns: dict[str, list[NDArray[np.float32]]] = {"overlap_3": [], **{k: [] for k in values}}
    for some, found in pairs(["id", "reference", "paraphrase"]):
        chosen = [index for index, each in enumerate(found) if each <= last]
        for row in some.texts.take(chosen).to_pylist():
            references[row["id"]] = row["reference"]
            paraphrases.append(row["paraphrase"])
        for name, parts in columns.items():
            parts.append(some.columns[name][chosen])
    nothing = np.empty(0, np.float32)
    joined = {name: np.concatenate([nothing, *parts]) for name, parts in columns.items()}
    return Sample(list(references.values()), paraphrases, joined)


def write_statistics(
    folder: Path, values: dict[str, Path], shards: int, output: Path, config: dict[str, Any]
) -> None:
    """Write the statistics of the `pair_columns` shards of a folder, with their record."""
    paths = shard_paths(folder, shards)
    for path in paths:
        verify(path)
    others = verified_values(values, shards)
    sample = read_sample(paths, others, config["pairs"], config["seed"])
    write_json(output, {"config": config, **statistics(sample, config["columns"])})
    write_record(output.with_name(RECORD), 0, 0, {}, files=[output])


def main(argv: list[str] | None = None) -> None:
    """Write the corpus statistics of a system's pairs."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json.loads, required=True, help="JSON")
    parser.add_argument("--folder", type=Path, required=True, help="with shards of pair columns")
    parser.add_argument(
        "--values",
        type=named_folder,
        nargs="*",
        default=[],
        metavar="COLUMN=FOLDER",
        help="with shards of a column that a model computed",
    )
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True, help="statistics.json")
    arguments = parser.parse_args(argv)
    write_statistics(
        arguments.folder,
        dict(arguments.values),
        arguments.shards,
        arguments.output,
        arguments.config,
    )


if __name__ == "__main__":
    run(main)
