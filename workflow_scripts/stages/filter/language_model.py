"""Train the KenLM model behind a column.

It learns from references that are not paraphrased, or from some of those that are, whose pairs then
have no value (BT17 5.6).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_json, shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS
from workflow_scripts.stages.filter.kenlm import estimate
from workflow_scripts.stages.filter.sample import Place, last_distinct, reference_place
from workflow_scripts.stages.generate.references import rejection
from workflow_scripts.stages.generate.sample_references import RECORD as SAMPLE_RECORD

RECORD, MODEL = "model", "model.binary"
# Why a pair's reference is not learnt.
PARAPHRASED, NOT_PARAPHRASED = "paraphrased", "not_paraphrased"
OTHER_CORPUS, NOT_DRAWN, SAME = "other_corpus", "sample", "same_reference"


def wanted(
    rows: Iterable[PairRow],
    corpora: list[str],
    sample: dict[str, Any],
    rejected: Counter[str],
    paraphrased: bool = False,
) -> Iterator[PairRow]:
    """Yield the pairs of some corpora whose references are not paraphrased, or those that are.

    Args:
        rows: pairs.
        corpora: names of corpora.
        sample: what `generate.sample_references` wrote: which references are paraphrased.
        rejected: counts the others.
        paraphrased: whether references are wanted that are.
    """
    for row in rows:
        if row["corpus"] not in corpora:
            rejected[OTHER_CORPUS] += 1
        elif bool(rejection(row, sample["cutoffs"], sample["seed"])) == paraphrased:
            rejected[NOT_PARAPHRASED if paraphrased else PARAPHRASED] += 1
        else:
            yield row


def different(
    rows: Iterable[PairRow], seed: int, last: Place, rejected: Counter[str]
) -> Iterator[PairRow]:
    """Yield the first pair of each reference up to the place `last` of their seeded order."""
    seen: set[Place] = set()
    for row in rows:
        here = reference_place(seed, row["reference"])
        if here > last or here in seen:
            rejected[SAME if here in seen else NOT_DRAWN] += 1
        else:
            seen.add(here)
            yield row


def train(
    config: dict[str, Any],
    folder: Path,
    shards: int,
    sample: Path,
    output: Path,
    corpus: str | None = None,
) -> None:
    """Train a language model on references that are not paraphrased, or on some of those that are.

    Args:
        config: `order`, `corpora`; `punctuation`, if it is not dropped; `references` and `seed`, if
            it learns from so many that are paraphrased: then `extra.learnt` in the record tells
            which, see `sample.is_learnt`.
        folder: with `pairs` shards.
        sample: what `generate.sample_references` wrote.
        output: the binary model; its record `model.json` stands beside it.
        corpus: the only one of the corpora that it learns from.

    Raises:
        InputError: all references are paraphrased, or it learns from all that are.
    """
    paths = shard_paths(folder, shards)
    rows = sum(verify(path)["rows_out"] for path in paths)
    sampled = read_json(sample, SAMPLE_RECORD)
    corpora = [corpus] if corpus else config["corpora"]
    limit, rejected = config.get("references"), Counter[str]()

    def pairs(rejected: Counter[str]) -> Iterator[PairRow]:
        columns = ["id", "corpus", "reference"]
        every = (row for path in paths for row in read_rows(path, PairRow, columns))
        read = progress(every, rows, "language model")
        return wanted(read, corpora, sampled, rejected, paraphrased=limit is not None)

    extra, chosen = None, pairs(rejected)
    if limit is not None:
        seed = config["seed"]
        places = (reference_place(seed, row["reference"]) for row in pairs(Counter()))
        last = last_distinct(places, limit)
        extra, chosen = {"learnt": [seed, *last[:2]]}, different(chosen, seed, last, rejected)
    split = TOKENISERS[config.get("punctuation", DROPPED)]
    sentences = (split(row["reference"]) for row in chosen)
    first = next(sentences, None)
    if first is None:
        why = "none is paraphrased; raise generate.limit"
        if limit is None:
            why = (
                "all are paraphrased; lower generate.limit, or name a corpus in its corpora that "
                "is not among generate.corpora"
            )
        raise InputError(
            f"no reference of {', '.join(corpora)} is left for the language model: {why}"
        )
    count = estimate(chain([first], sentences), config["order"], output)
    if limit is not None and not rejected[NOT_DRAWN]:
        raise InputError(
            f"the language model learns from all {count:,} references of {', '.join(corpora)} that "
            f"are paraphrased, and no pair is left to measure; set references below {count}"
        )
    write_record(output.with_name(RECORD), rows, count, rejected, extra, [output])


main = command(train, __name__)
