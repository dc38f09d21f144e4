"""Train the KenLM model behind a column, on references that are not paraphrased."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_json, shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS
from workflow_scripts.stages.filter.kenlm import estimate
from workflow_scripts.stages.generate.references import rejection
from workflow_scripts.stages.generate.sample_references import RECORD as SAMPLE_RECORD

RECORD = "model"
PARAPHRASED, OTHER_CORPUS = "paraphrased", "other_corpus"


def apart(
    rows: Iterable[PairRow],
    corpora: list[str],
    sample: dict[str, Any],
    rejected: Counter[str],
    split: Callable[[str], list[str]] = TOKENISERS[DROPPED],
) -> Iterator[list[str]]:
    """Yield the words of the references of some corpora that are not paraphrased.

    Args:
        rows: pairs.
        corpora: names of corpora.
        sample: what `generate.sample_references` wrote: which references are paraphrased.
        rejected: counts the others.
        split: gives the words of a reference.
    """
    for row in rows:
        if row["corpus"] not in corpora:
            rejected[OTHER_CORPUS] += 1
        elif not rejection(row, sample["cutoffs"], sample["seed"]):
            rejected[PARAPHRASED] += 1
        else:
            yield split(row["reference"])


def train(
    folder: Path, shards: int, sample_path: Path, output: Path, config: dict[str, Any]
) -> None:
    """Write the model of the references of `pairs` shards, with its record.

    Raises:
        InputError: all references are paraphrased.
    """
    paths = shard_paths(folder, shards)
    rows = sum(verify(path)["rows_out"] for path in paths)
    sample = read_json(sample_path, SAMPLE_RECORD)
    columns = ["id", "corpus", "reference"]
    found = (row for path in paths for row in read_rows(path, PairRow, columns))
    rejected: Counter[str] = Counter()
    split = TOKENISERS[config.get("punctuation", DROPPED)]
    read = progress(found, rows, "language model")
    kept = apart(read, config["corpora"], sample, rejected, split)
    first = next(kept, None)
    if first is None:
        raise InputError(
            f"no reference of {', '.join(config['corpora'])} is left for the language model: all "
            "are paraphrased; lower generate.limit, or name a corpus in its corpora that is not "
            "among generate.corpora"
        )
    count = estimate(chain([first], kept), config["order"], output)
    write_record(output.with_name(RECORD), rows, count, rejected, files=[output])


def main(argv: list[str] | None = None) -> None:
    """Train a language model on references that are not paraphrased."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--folder", type=Path, required=True, help="with shards of pairs")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--sample", type=Path, required=True, help="of generate.sample_references")
    parser.add_argument("--output", type=Path, required=True, help="binary model")
    arguments = parser.parse_args(argv)
    train(arguments.folder, arguments.shards, arguments.sample, arguments.output, arguments.config)


if __name__ == "__main__":
    run(main)
