"""What each filter does to planted noise: pairs of the testbed, some of them made bad.

    python benchmarks/bench_filter_noise.py [--meanings 3000]

A good pair is two realisations of one meaning. Of each kind of noise there are as many bad pairs
as there are good ones. Each filter is one bound on one column, set so that it loses 5 % of the
good pairs; the table has its recall (the share of the kind's bad pairs that it rejects, x 100) and
its precision (the share of bad ones among what it rejects of the good pairs and this kind).
"""

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.filter.columns import Counter
from workflow_scripts.stages.filter.kenlm import LanguageModel, estimate
from workflow_scripts.stages.filter.train_classifier import split, train
from workflow_scripts.testbed.noise import KINDS, Item, clean

# The kinds that mean something where both sides are of one language.
NOISE = ("copied", "misaligned", "negated", "number_changed", "truncated", "wrong_language")
LOST = 0.05
# Each filter: its column, and whether the bound is the least or the greatest value.
FILTERS = (
    ("paraphrase_words", "least"),
    ("overlap_1", "least"),
    ("overlap_1", "greatest"),
    ("overlap_3", "greatest"),
    ("intersection_over_union", "least"),
    ("intersection_over_union", "greatest"),
    ("bleu_nakov", "least"),
    ("bleu_nakov", "greatest"),
    ("sacrebleu_exp", "least"),
    ("perplexity", "greatest"),
    ("lstm", "least"),
    ("average", "least"),
)
SETTINGS = {
    **{"size": 50, "vocabulary": 5000, "validation": 0.2, "epochs": 3, "batch": 100},
    **{"learning_rate": 0.003, "seed": 1},
}
SEED = 1
Pairs = list[tuple[str, str]]
Columns = dict[str, NDArray[np.float64]]


def make_pairs(meanings: int) -> dict[str, Pairs]:
    """Return the good pairs, and those of each kind of noise, of the same meanings."""
    found: dict[str, Pairs] = {"good": [], **{kind: [] for kind in NOISE}}
    for index in range(meanings):
        one, other = (item.reference for item in clean(SEED, index, 2))
        found["good"].append((one, other))
        for kind in NOISE:
            # As if the first realisation were a source: noise is done to either side.
            bad = KINDS[kind](Item(one, other), index, SEED, generator(SEED, kind, index))
            if (bad.source, bad.reference) != (one, other):
                found[kind].append((bad.source, bad.reference))
    return found


def language_model(meanings: int, folder: Path) -> LanguageModel | None:
    """Train a model on references of other meanings; None where KenLM is not compiled."""
    references = (clean(SEED, 10**6 + index, 1)[0].reference for index in range(meanings))
    try:
        estimate(map(words, references), 3, folder / "model")
        return LanguageModel(folder / "model")
    except InputError as error:
        print(error)
        return None


def classifiers(pairs: dict[str, Pairs]):
    """Return a network of each kind, trained on good and bad pairs, with its accuracy."""
    rows = [
        {"id": f"{index}", "reference": one, "paraphrase": other}
        for many in pairs.values()
        for index, (one, other) in enumerate(many)
    ]
    for network in ("lstm", "average"):
        config = {**SETTINGS, "network": network}
        yield network, *train(split(rows, config), config)


def rejected(filter_: tuple[str, str], columns: Columns, good: Columns) -> NDArray[np.bool_]:
    """Return what a filter rejects whose bound loses 5 % of the good pairs at most."""
    column, end = filter_
    if end == "least":
        return columns[column] < np.quantile(good[column], LOST, method="lower")
    return columns[column] > np.quantile(good[column], 1 - LOST, method="higher")


def table(columns: dict[str, Columns], filters: Iterable[tuple[str, str]]) -> str:
    """Return the table in Markdown: recall and precision by filter and kind of noise."""
    lines = ["| bound | good lost | " + " | ".join(NOISE) + " |", "|---" * (2 + len(NOISE)) + "|"]
    for filter_ in filters:
        lost = rejected(filter_, columns["good"], columns["good"])
        cells = [f"{100 * lost.mean():.0f}"]
        for kind in NOISE:
            found = rejected(filter_, columns[kind], columns["good"])
            # As if there were as many bad pairs of the kind as good ones.
            share = found.mean() / (found.mean() + lost.mean()) if found.any() else 0.0
            cells.append(f"{100 * found.mean():.0f} ({100 * share:.0f})")
        lines.append(f"| {filter_[1]} `{filter_[0]}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print recall and precision of each filter for each kind of planted noise."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--meanings", type=int, default=3000)
    arguments = parser.parse_args()
    pairs = make_pairs(arguments.meanings)
    counter = Counter()
    columns: dict[str, Columns] = {
        kind: counter.columns(*(pa.array(side, pa.string()) for side in zip(*many, strict=True)))
        for kind, many in pairs.items()
    }
    with tempfile.TemporaryDirectory() as name:
        asked = language_model(arguments.meanings, Path(name))
        for kind, many in pairs.items() if asked else ():
            columns[kind]["perplexity"] = asked.perplexity([other for _, other in many])
    for network, classifier, metrics in classifiers(pairs):
        print(f"{network}: {metrics['validation']}")
        for kind, many in pairs.items():
            texts = [words(other) for _, other in many]
            columns[kind][network] = classifier.probabilities(texts)
    print({kind: len(many) for kind, many in pairs.items()})
    print(table(columns, [each for each in FILTERS if each[0] in columns["good"]]))


if __name__ == "__main__":
    main()
