"""Pairs per CPU-second that the judge judges, on one core, without an encoder and with MiniLM.

    python benchmarks/bench_judge.py [--references 60] [--paraphrases 15] [--words 12]

Sentences are of random English words; each reference has some paraphrases, in each of which a
quarter of the words are others.
"""

import argparse
import time

import numpy as np
import torch

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.text.closed_classes import FUNCTION_WORDS
from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.stages.judge.features import Models, compute
from workflow_scripts.stages.judge.grammar.grammar_model import Grammar
from workflow_scripts.stages.judge.judge import Judge
from workflow_scripts.stages.judge.known_pairs import Pairs

NOUNS = (
    *("house", "river", "friend", "letter", "window", "garden", "teacher", "street"),
    *("morning", "picture", "train", "answer"),
)


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


def main() -> None:
    """Print the speeds."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--references", type=int, default=60)
    parser.add_argument("--paraphrases", type=int, default=15)
    parser.add_argument("--words", type=int, default=12)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    judge = Judge.load("default")
    grammar = Grammar.load("english")
    kinds = {"without an encoder": Models(grammar=grammar)}
    try:
        kinds["with MiniLM"] = Models(load_encoder(encoder_folder()), grammar)
    except InputError as error:
        print(error)
    for name, models in kinds.items():
        judged = 0.0
        for measured in (False, True):  # the first loads a dictionary
            pairs = make_pairs(arguments.references, arguments.paraphrases, arguments.words)
            start = time.process_time()
            found = compute(pairs, [*judge.features, "words"], models)
            judge.probability(found, found["words"])
            if measured:
                judged = len(pairs) / (time.process_time() - start)
        print(f"{name}: {judged:,.0f} pairs per CPU-second")


if __name__ == "__main__":
    main()
