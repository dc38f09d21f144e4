"""Pairs per CPU-second that the judge judges, on one core, and what 8 bits change.

    python -m benchmarks.bench_judge [--references 60] [--paraphrases 15] [--words 12]
        [--labels labels/english.tsv labels/english-games.tsv]

It judges without an encoder, with MiniLM, and with MiniLM in int8. Sentences are of random English
words; each reference has some paraphrases, in each of which a quarter of the words are others. Of
labelled pairs it also prints the areas under the ROC curve, and how many references have other
paraphrases above a bound of .5 than with fp32; then, by system and kind of text, the mean
probability with the interval that a report shows, and the share of good ones. Of kinds whose part
`train` the judge was fitted to, only the part `test` counts there.
"""

import argparse
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.tsv import read_rows
from workflow_scripts.core.text.closed_classes import FUNCTION_WORDS
from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.stages.evaluate.gain import expected_share
from workflow_scripts.stages.judge.features import Models, compute
from workflow_scripts.stages.judge.grammar.grammar_model import Grammar
from workflow_scripts.stages.judge.judge import Judge
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs
from workflow_scripts.stages.judge.rated_pairs import read_labels

NOUNS = (
    *("house", "river", "friend", "letter", "window", "garden", "teacher", "street"),
    *("morning", "picture", "train", "answer"),
)

BOUND = 0.5
_FITTED_TO = ("pud", "tatoeba")
_FEWEST = 20  # pairs of a system and kind


def make_pairs(references: int, paraphrases: int, words: int) -> Pairs:
    """Return random pairs, the paraphrases of a reference together."""
    random = np.random.default_rng(1)
    vocabulary = np.array([*sorted(FUNCTION_WORDS), *NOUNS * 8])
    left, right = [], []
    for _ in range(references):
        sentence = random.choice(vocabulary, words)
        for _ in range(paraphrases):
            changed = np.where(
                random.random(words) < 0.25, random.choice(vocabulary, words), sentence
            )
            left.append(" ".join(sentence) + ".")
            right.append(" ".join(changed) + ".")
    return Pairs(left, right, forward_nll=random.gamma(2, 0.4, len(left)))


def probabilities(pairs: Pairs, judge: Judge, models: Models) -> Numbers:
    """Return the probability of each pair, shape (pairs,)."""
    found = compute(pairs, [*judge.features, "words"], models)
    return judge.probability(found, found["words"])


def compare(files: Sequence[Path], judge: Judge, kinds: Mapping[str, Models]) -> None:
    """Print a line about labelled pairs for each kind; changes are those of the first kind."""
    labelled = read_labels(*files)
    clear, references = labelled.good | labelled.bad, np.array(labelled.pairs.references)
    first = None
    for name, models in kinds.items():
        judged = probabilities(labelled.pairs, judge, models)
        kept = judged >= BOUND
        first = kept if first is None else first
        areas = [
            roc_auc_score(labelled.good[rows], judged[rows])
            for rows in (clear, np.full_like(clear, True))
        ]
        print(
            f"{name}: good against bad {areas[0]:.3f}, good against the rest {areas[1]:.3f}; above "
            f"{BOUND}: {kept.sum()} of {len(kept)}, {labelled.good[kept].mean():.1%} good; other "
            f"ones in {len(set(references[kept != first]))} of {len(set(references))} references"
        )


def reliability(files: Sequence[Path], judge: Judge, models: Models, least: float) -> None:
    """Print for each system and kind what is promised and what is good, of `least` and more."""
    labelled = read_labels(*files)
    judged = probabilities(labelled.pairs, judge, models)
    rows = [row for path in files for _, row in read_rows(path, ()) if row["label"] != "copy"]
    cells: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(rows):
        unseen = row["kind"] not in _FITTED_TO or row["split"] == "test"
        if unseen and judged[place] >= least:
            for system in {name.removesuffix("_written") for name in row["systems"].split()}:
                cells.setdefault((system, row["kind"]), []).append(place)
    holds: Counter[bool] = Counter()
    for (system, kind), places in sorted(cells.items()):
        if len(places) < _FEWEST:
            continue
        _, groups = np.unique([rows[place]["id"] for place in places], return_inverse=True)
        sums = np.stack([np.bincount(groups, judged[places]), np.bincount(groups)], axis=1)
        told, good = expected_share(sums, 1000, 1), 100 * labelled.good[places].mean()
        holds[told["low"] <= good <= told["high"]] += 1
        print(
            f"{system}, {kind}: {len(places)} of {least} and more, {told['share']:.1f} "
            f"({told['low']:.1f} to {told['high']:.1f}) expected, {good:.1f} good"
        )
    print(f"{holds[True]} of {holds.total()} intervals hold the share of good ones")


def main() -> None:
    """Print the speeds."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--references", type=int, default=60)
    parser.add_argument("--paraphrases", type=int, default=15)
    parser.add_argument("--words", type=int, default=12)
    parser.add_argument("--labels", type=Path, nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    judge = Judge.load("default")
    grammar = Grammar.load("english")
    kinds = {"without an encoder": Models(grammar=grammar)}
    try:
        folder = encoder_folder()
        kinds["with MiniLM"] = Models(load_encoder(folder), grammar)
        kinds["with MiniLM in int8"] = Models(load_encoder(folder, "cpu", "int8"), grammar)
    except InputError as error:
        print(error)
    for name, models in kinds.items():
        judged = 0.0
        for measured in (False, True):  # the first loads a dictionary
            pairs = make_pairs(arguments.references, arguments.paraphrases, arguments.words)
            start = time.process_time()
            probabilities(pairs, judge, models)
            if measured:
                judged = len(pairs) / (time.process_time() - start)
        print(f"{name}: {judged:,.0f} pairs per CPU-second")
    if arguments.labels:
        compare(arguments.labels, judge, {name: kinds[name] for name in kinds if "MiniLM" in name})
        for least in (0.0, 0.3):
            reliability(arguments.labels, judge, kinds["with MiniLM"], least)


if __name__ == "__main__":
    main()
