"""Pairs a second of the columns of overlap and BLEU, beside sacrebleu's sentence BLEU, on one core.

    python benchmarks/bench_filter.py [--pairs 50000] [--words 20]

References are words drawn from 20,000 by Zipf's law, the length uniform from half to one and a half
times --words, with a comma and a full stop. Of a paraphrase a third of the words differ, and
two have changed places. All columns without a model are computed, sacrebleu's four variants among
them; sacrebleu itself computes one of those, on a part of the pairs.
"""

import argparse
import json
import time

import numpy as np
import pyarrow as pa
import sacrebleu

from workflow_scripts.stages.filter.columns import BATCH, Counter

VOCABULARY = 20_000
SACREBLEU_PAIRS = 1000


def sentence(words: list[str]) -> str:
    """Return words as a sentence with a comma and a full stop."""
    middle = len(words) // 2
    return f"{' '.join(words[:middle])}, {' '.join(words[middle:])}."


def make_pairs(count: int, length: int, paraphrases: int) -> list[tuple[str, str]]:
    """Return `count` pairs, `paraphrases` of each reference."""
    random = np.random.default_rng(1)
    shares = (1 / np.arange(1, VOCABULARY + 1)).cumsum()

    def draw(size: int) -> list[str]:
        return [f"w{rank}" for rank in shares.searchsorted(random.random(size) * shares[-1])]

    pairs = []
    while len(pairs) < count:
        words = draw(int(random.integers(length // 2, length + length // 2 + 1)))
        for _ in range(paraphrases):
            other = list(words)
            for place in np.flatnonzero(random.random(len(other)) < 1 / 3):
                other[place] = draw(1)[0]
            one, two = random.integers(len(other), size=2)
            other[one], other[two] = other[two], other[one]
            pairs.append((sentence(words), sentence(other)))
    return pairs[:count]


def columns_rate(pairs: list[tuple[str, str]]) -> float:
    """Return pairs per CPU-second, with an empty lexicon at the start.

    The stage reads texts as Arrow's arrays, so they are made before the clock starts.
    """
    sides = [pa.array(side, pa.string()) for side in zip(*pairs, strict=True)]
    counter, start = Counter(), time.process_time()
    for first in range(0, len(pairs), BATCH):
        counter.columns(*(side.slice(first, BATCH) for side in sides))
    return len(pairs) / (time.process_time() - start)


def sacrebleu_rate(pairs: list[tuple[str, str]]) -> float:
    """Return pairs per CPU-second of one variant."""
    some, start = pairs[:SACREBLEU_PAIRS], time.process_time()
    for reference, paraphrase in some:
        sacrebleu.sentence_bleu(paraphrase, [reference])
    return len(some) / (time.process_time() - start)


def main() -> None:
    """Print the rates and their ratio as JSON, for one and for five paraphrases a reference."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--words", type=int, default=20)
    arguments = parser.parse_args()
    for paraphrases in (1, 5):
        pairs = make_pairs(arguments.pairs, arguments.words, paraphrases)
        ours, theirs = columns_rate(pairs), sacrebleu_rate(pairs)
        figures = {
            "paraphrases_per_reference": paraphrases,
            "pairs_per_second": round(ours),
            "sacrebleu_pairs_per_second": round(theirs),
            "ratio": round(ours / theirs, 1),
        }
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
