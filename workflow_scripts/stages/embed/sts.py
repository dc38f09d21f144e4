"""Test one model on data sets of semantic textual similarity (STS).

paraloom evaluate sts --model FOLDER --data FOLDER

Prints one JSON object: {data set: {"n", "pearson", "spearman"}, ..., "mean", "weighted", "all"}.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.encoding.embedding import SentenceEmbeddings, load, similarities
from workflow_scripts.stages.embed.correlations import overlaps, result
from workflow_scripts.stages.embed.sts_readers import DataSet, missing, read_data_sets


def model_similarities(
    model: SentenceEmbeddings, data_sets: Sequence[DataSet]
) -> list[NDArray[np.float64]]:
    """Return the cosine of each pair of each data set under a model."""
    return [similarities(model, data_set.pairs) for data_set in data_sets]


def main(argv: list[str] | None = None) -> None:
    """Print a model's correlations with the gold scores of STS data sets, as JSON."""
    parser = CommandParser(description=main.__doc__)
    method = parser.add_mutually_exclusive_group(required=True)
    method.add_argument("--model", type=Path, help="model folder of the embed stage")
    method.add_argument("--overlap", action="store_true", help="the word-overlap baseline instead")
    parser.add_argument("--untrained", action="store_true", help="the model as it was untrained")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="files and folders")
    parser.add_argument("--language", default="en", help="of the sentences (en)")
    arguments = parser.parse_args(argv)
    if arguments.untrained and arguments.overlap:
        raise InputError("--untrained goes with --model; leave it out")
    data_sets = read_data_sets(arguments.data, arguments.language)
    absent = missing(data_sets)
    if absent:
        print(f"not in the data: {', '.join(absent)}", file=sys.stderr)
    if arguments.overlap:
        cosines = overlaps(data_sets)
    else:
        cosines = model_similarities(load(arguments.model, arguments.untrained), data_sets)
    print(json.dumps(result(data_sets, cosines), indent=2))


if __name__ == "__main__":
    run(main)
