"""Train the KenLM model behind a column, on references that are not paraphrased."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import run
from workflow_scripts.core.command import command
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


def train(config: dict[str, Any], folder: Path, shards: int, sample: Path, output: Path) -> None:
    """Train a language model on references that are not paraphrased.

    Args:
        config: `order`, `corpora`; `punctuation`, if it is not dropped.
        folder: with `pairs` shards.
        shards: their number.
        sample: what `generate.sample_references` wrote.
        output: the binary model; its record `model.json` stands beside it.

    Raises:
        InputError: all references are paraphrased.
    """
    paths = shard_paths(folder, shards)
    rows = sum(verify(path)["rows_out"] for path in paths)
    sampled = read_json(sample, SAMPLE_RECORD)
    columns = ["id", "corpus", "reference"]
    pairs = (row for path in paths for row in read_rows(path, PairRow, columns))
    rejected: Counter[str] = Counter()
    split = TOKENISERS[config.get("punctuation", DROPPED)]
    read = progress(pairs, rows, "language model")
    sentences = apart(read, config["corpora"], sampled, rejected, split)
    first = next(sentences, None)
    if first is None:
        raise InputError(
            f"no reference of {', '.join(config['corpora'])} is left for the language model: all "
            "are paraphrased; lower generate.limit, or name a corpus in its corpora that is not "
            "among generate.corpora"
        )
    count = estimate(chain([first], sentences), config["order"], output)
    write_record(output.with_name(RECORD), rows, count, rejected, files=[output])


main = command(train)

if __name__ == "__main__":
    run(main)
