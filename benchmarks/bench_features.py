"""What features of pairs tell, and what they cost: the ROC area and the pairs a second of each.

    python benchmarks/bench_features.py --labels labels.tsv [--references FILE ...]
        [--encoder FOLDER] [--forward MODEL --backward MODEL]

The labels: good (G), acceptable (A), bad (B). The area is that of good against bad ones; 0.5 is
chance, and a feature that is lower for good ones is negated. Files of references, a sentence a
line, give known words and the language model; --encoder is by default the one that `make setup`
installs. The translation models bring the references' own NLLs and those of single tokens. Grammar
is the model that ships.

The pairs a second are those of CPU time on one core, of a feature alone.
"""

import argparse
import csv
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata

from workflow_scripts.core.text.normalisation import words
from workflow_scripts.core.text.text_tokens import known_words, tokens
from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.raw import coders
from workflow_scripts.nmt.scoring import Forced, forced
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT
from workflow_scripts.stages.filter.kenlm import LanguageModel, estimate
from workflow_scripts.stages.judge.features import FEATURES, Models
from workflow_scripts.stages.judge.features.dictionary import WithDictionary
from workflow_scripts.stages.judge.grammar import Grammar
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs

# Lower is better.
NEGATED = {"forward_nll", "backward_nll", "forward_total", "forward_worst", "unknown_words"}
NEGATED |= {"edit_distance", "forward_root", "spread_added", "changed_pronouns"}
NEGATED |= {"invented_words", "dropped_words", "repeated_words", "doubled_words"}
NEGATED |= {"inner_capitals", "respelt_words", "untranslated_words", "exchanged_words"}
NEGATED |= {"changed_marks", "lost_articles"}
# A clock of CPU time ticks a hundred times a second.
LEAST_SECONDS = 1.0


def read_labels(path: Path) -> tuple[Pairs, NDArray[np.str_]]:
    """Return labelled pairs with their NLLs, and their labels."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    nlls = {
        name: np.array([float(row[name] or "nan") for row in rows])
        for name in ("forward_nll", "backward_nll")
    }
    sides = ([row[side] for row in rows] for side in ("reference", "paraphrase", "source"))
    return Pairs(*sides, **nlls), np.array([row["label"] for row in rows])


def decoded(folder: Path, sources: Sequence[str], targets: Sequence[str]) -> list[Forced]:
    """Return the NLLs of plain texts under a translation model."""
    model = load_model(folder, "cpu")
    source, target = coders(model, folder, True, None, None)
    both = zip(sources, targets, strict=True)
    return list(forced(model, ((source.encode(one), target.encode(other)) for one, other in both)))


def with_models(pairs: Pairs, forward: Path, backward: Path) -> Pairs:
    """Return the pairs with what translation models say of paraphrases and references."""
    assert pairs.sources is not None
    found = decoded(forward, pairs.sources, pairs.paraphrases)
    own = decoded(forward, pairs.sources, pairs.references)
    back = decoded(backward, pairs.references, pairs.sources)
    return replace(
        pairs,
        forward_total=np.array([each.total for each in found]),
        forward_worst=np.array([each.worst for each in found]),
        reference_forward_nll=np.array([each.mean for each in own]),
        reference_backward_nll=np.array([each.mean for each in back]),
    )


def roc_area(values: Numbers, good: NDArray[np.bool_], bad: NDArray[np.bool_]) -> float:
    """Return the probability that a good pair has more than a bad one; half of ties count."""
    known = ~np.isnan(values)
    first, second = values[good & known], values[bad & known]
    ranks = rankdata(np.concatenate([first, second]))[: len(first)]
    return (ranks.sum() - len(first) * (len(first) + 1) / 2) / (len(first) * len(second))


def cpu_seconds() -> float:
    """Return the CPU time of this process, and of those that it waited for."""
    return sum(os.times()[:4])


def main() -> None:
    """Print a row for each feature that can be computed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--references", type=Path, nargs="*", default=[])
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--forward", type=Path)
    parser.add_argument("--backward", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    pairs, labels = read_labels(options.labels)
    if options.forward and options.backward:
        pairs = with_models(pairs, options.forward, options.backward)
    good, bad = labels == "G", labels == "B"
    lines = [line for path in options.references for line in path.read_text("utf-8").splitlines()]
    known = WithDictionary(known_words([*lines, *pairs.references]))
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.binary"
        if lines:
            estimate(map(words, lines), 3, model)
        models = Models(
            encoder=load_encoder(options.encoder or encoder_folder(DEFAULT)),
            language_model=LanguageModel(model) if lines else None,
            grammar=Grammar.load("english"),
            known_words=known,
        )
        print("feature\tarea\tpairs\tpairs/s")
        for name, feature in FEATURES.items():
            if feature.missing(pairs, models) or name == "reference_vector":
                continue
            feature.compute(pairs.take(range(8)), models)  # what is read at the first use
            start, times = cpu_seconds(), 0
            while not times or cpu_seconds() - start < LEAST_SECONDS:
                tokens.cache_clear()
                values = feature.compute(pairs, models)
                times += 1
            rate = times * len(pairs) / (cpu_seconds() - start)
            area = roc_area(-values if name in NEGATED else values, good, bad)
            print(f"{name}\t{area:.3f}\t{np.isfinite(values).sum()}\t{rate:,.0f}", flush=True)


if __name__ == "__main__":
    main()
