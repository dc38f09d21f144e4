"""What a grammar model sees: held-out damage, labelled paraphrases, flags of people; speed.

    python benchmarks/bench_grammar.py --data FOLDER [--model FOLDER] [--baseline TEXT ...]

FOLDER has `labelled_pt_en`, `parabank_ratings`, `newstest_multi` and `tatoeba_tests`. With
`--baseline` a logistic regression over n-grams of words and letters is trained on the text files
(one damage a sentence) and measured beside the model. Areas are those under the ROC curve.
"""

import argparse
import csv
import random
import time
from pathlib import Path

import numpy as np
import torch
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from workflow_scripts.stages.judge.grammar import Grammar
from workflow_scripts.stages.judge.grammar.damage import Damager
from workflow_scripts.stages.judge.grammar.known_tokens import normal, tokens
from workflow_scripts.stages.judge.grammar.train import lines
from workflow_scripts.stages.judge.grammar.training import (
    DEFAULTS,
    examples,
    roc_area,
    split,
    validate,
)

# Words of a reference that is called short.
SHORT = 12
BANDS = ((4, 8), (8, 13), (13, 20), (20, 30), (30, 45))


class Baseline:
    """Logistic regression over hashed n-grams: words to 3, letters of words to 4."""

    def __init__(self, sentences, most=75_000):
        self._vectors = HashingVectorizer(
            analyzer=self._grams, n_features=1 << 21, norm="l2", alternate_sign=False
        )
        self._model = SGDClassifier(loss="log_loss", alpha=1e-6, random_state=1)
        config = {**DEFAULTS, "sentences": most, "counted": 0.0, "joined": 0.0, "batch": 8192}
        parts = split(sentences, config)
        damager = Damager(parts.training, config["seed"])
        for epoch in range(2):
            for batch in examples(parts.training, damager, config, epoch):
                vectors = self._vectors.transform(batch.sentences)
                self._model.partial_fit(vectors, np.array(batch.sound), classes=[False, True])

    @staticmethod
    def _grams(sentence):
        words = ["<s>", *map(normal, sentence), "</s>"]
        for size in (1, 2, 3):
            for start in range(len(words) - size + 1):
                yield " ".join(words[start : start + size])
        for word in (f"<{word}>" for word in words[1:-1]):
            for start in range(max(1, len(word) - 3)):
                yield f"#{word[start : start + 4]}"

    def of_tokens(self, sentences):
        return self._model.decision_function(self._vectors.transform(list(sentences)))

    def log_odds(self, sentences):
        return self.of_tokens([tokens(sentence) for sentence in sentences])


def table(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def speed(model, sentences):
    start = time.process_time()
    model.log_odds(sentences)
    return len(sentences) / (time.process_time() - start)


def labelled(model, data):
    """Good against bad paraphrases: by grammar, by forward NLL, by both."""
    rows = [row for row in table(data / "labelled_pt_en/labels.tsv") if row["label"] != "A"]
    good = np.array([row["label"] == "G" for row in rows])
    short = np.array([len(row["reference"].split()) <= SHORT for row in rows])
    forward = np.array([float(row["forward_nll"]) for row in rows])
    grammar = model.log_odds([row["paraphrase"] for row in rows])
    gain = grammar - model.log_odds([row["reference"] for row in rows])
    print(
        f"labelled, {good.sum()} good, {(~good).sum()} bad: grammar {roc_area(grammar, good):.3f}"
    )
    print(f"  short {roc_area(grammar[short], good[short]):.3f}", end=", ")
    print(f"long {roc_area(grammar[~short], good[~short]):.3f}; ", end="")
    print(f"against the reference's {roc_area(gain, good):.3f}")
    print(f"  minus forward NLL {roc_area(-forward, good):.3f}", end="")
    for weight in (0.05, 0.1, 0.2):
        area = roc_area(weight * grammar - forward, good)
        print(f", + {weight} grammar {area:.3f}", end="")
    print()


def rated(model, data):
    """Paraphrases that nobody flagged as ungrammatical against the others."""
    flags = {}
    for row in table(data / "parabank_ratings/candidates.tsv"):
        if row["sys_id"] != "0":
            key = int(row["ref_len"]), row["candidate"]
            flags[key] = min(int(row["gm"]), flags.get(key, 2))
    grammar = model.log_odds([candidate for _, candidate in flags])
    sound = np.array([flag == 2 for flag in flags.values()])
    lengths = np.array([length for length, _ in flags])
    areas = ", ".join(
        f"{length}: {roc_area(grammar[lengths == length], sound[lengths == length]):.3f}"
        for length in sorted(set(lengths.tolist()))
    )
    print(
        f"rated, {(~sound).sum()} of {len(sound)} flagged: {roc_area(grammar, sound):.3f} ({areas})"
    )


def damaged(model, news):
    """Sentences of news against the same ones damaged, and what length alone does."""
    corpus = [found for found in map(tokens, news) if len(found) > 3]
    found = validate(model, corpus[:1000], Damager(corpus, 1))
    kinds = ", ".join(f"{kind} {area:.2f}" for kind, area in found["area_by_kind"].items())
    print(f"damaged news: {found['area']:.3f} ({kinds})")
    grammar, lengths = model.log_odds(news), np.array([len(each.split()) for each in news])
    medians = ", ".join(
        f"{low} to {high - 1}: {np.median(grammar[(lengths >= low) & (lengths < high)]):.2f}"
        for low, high in BANDS
    )
    print(f"  median of sound news by words: {medians}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="english")
    parser.add_argument("--baseline", type=Path, nargs="+")
    options = parser.parse_args()
    torch.set_num_threads(1)
    news = [row["en"] for row in table(options.data / "newstest_multi/newstest2008-2013.tsv")]
    random.Random(1).shuffle(news)
    short = list(lines([options.data / "tatoeba_tests/por-eng.tsv"]))[:4000]
    models = {str(options.model): Grammar.load(options.model)}
    if options.baseline:
        models["n-grams"] = Baseline(lines(options.baseline))
    for name, model in models.items():
        print(f"== {name}")
        labelled(model, options.data)
        rated(model, options.data)
        damaged(model, news[:5000])
        rates = f"{speed(model, short):.0f} of Tatoeba, {speed(model, news[:2000]):.0f} of news"
        print(f"sentences a CPU-second: {rates}")


if __name__ == "__main__":
    main()
