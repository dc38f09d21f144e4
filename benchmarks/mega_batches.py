"""The effect of the mega-batch's size, with and without annealing (the sizes: ParaNMT, 5.5).

    python benchmarks/mega_batches.py [--pairs PAIRS.tsv --data STS...] [--sizes 1 20 40]

Trains one model per setting on the same pairs and prints its mean Pearson correlation, x 100. Pairs
are lines of two sentences with a tab between them; without a file they are testbed paraphrases,
tested on graded pairs of the testbed.
"""

import argparse
import csv
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.encoding.embedding import SentenceEmbeddings
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.embed.correlations import overlaps, result
from workflow_scripts.stages.embed.evaluation import simulated
from workflow_scripts.stages.embed.initial import initial_model
from workflow_scripts.stages.embed.prepared import key, prepare, read_prepared
from workflow_scripts.stages.embed.sts import model_similarities
from workflow_scripts.stages.embed.sts_readers import DataSet, read_data_sets
from workflow_scripts.stages.embed.training import Seeds, Training
from workflow_scripts.testbed.noise import clean

Pair = tuple[str, str]
MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")


def testbed_pairs(count: int) -> list[Pair]:
    """Return two English sentences of each of `count` meanings."""
    items = ([item.reference for item in clean(1, number, 2)] for number in range(count))
    return [(first, second) for first, second in items if first != second]


def file_pairs(path: Path) -> list[Pair]:
    """Return the pairs in a file."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row[0], row[1]) for row in rows]


def figures(
    pairs: list[Pair], data_sets: list[DataSet], settings: dict[str, Any], encoders: list[str]
) -> dict[str, float]:
    """Train one model; return its mean Pearson, its last loss and its CPU-seconds."""
    model = MODEL | {"encoders": encoders}
    built = initial_model(model, lambda: (text for pair in pairs for text in pair), 1, 1)
    with tempfile.TemporaryDirectory() as folder:
        prepare(pairs, built.tokenisers, Path(folder))
        data = read_prepared(Path(folder), built.tokenisers)
        start = time.process_time()
        training = Training(built, data, TRAINING | settings, Seeds(1, 1))
        training.run()
    found = model_similarities(SentenceEmbeddings(built), data_sets)
    return {
        "pearson": round(100 * result(data_sets, found)["mean"]["pearson"], 1),
        "loss": round(training.history[-1]["loss"], 4) if training.history else None,
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def main() -> None:
    """Print the correlations for each size of mega-batch."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pairs", type=Path, help="TSV file")
    parser.add_argument("--meanings", type=int, default=4000, help="without a file")
    parser.add_argument("--data", type=Path, nargs="+", help="STS data")
    parser.add_argument("--encoders", nargs="+", default=["word"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 20, 40])
    parser.add_argument("--anneal", type=int, default=TRAINING["anneal"])
    parser.add_argument("--epochs", type=int, default=TRAINING["epochs"])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    pairs = file_pairs(arguments.pairs) if arguments.pairs else testbed_pairs(arguments.meanings)
    data_sets = [simulated({"first": 600_000, "count": 500}, 1)]
    if arguments.data:
        data_sets = read_data_sets(arguments.data)
    barred = {key(text) for each in data_sets for pair in each.pairs for text in pair}
    pairs = [pair for pair in pairs if not barred & set(map(key, pair))]
    baseline = result(data_sets, overlaps(data_sets))["mean"]["pearson"]
    print(json.dumps({"pairs": len(pairs), "overlap": round(100 * baseline, 1)}))
    settings: list[dict[str, Any]] = [{"epochs": 0}]
    settings += [
        {"epochs": arguments.epochs, "mega_batch": size, "anneal": anneal}
        for size in arguments.sizes
        for anneal in ((None, arguments.anneal) if size > 1 else (None,))
    ]
    for each in settings:
        found = figures(pairs, data_sets, each, arguments.encoders)
        print(json.dumps(each | found), flush=True)


if __name__ == "__main__":
    main()
