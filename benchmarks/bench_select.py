"""Time per reference of the cluster selection, on one core.

    python benchmarks/bench_select.py [--references 300] [--candidates 150] [--length 20]

Candidates are random edits of a random reference over 2,000 pieces: a quarter of the pieces of
each are replaced, dropped or doubled, so that they form no trivial clusters.
"""

import argparse
import json
import time

import numpy as np

from workflow_scripts.stages.select.cluster import medoid_clusters
from workflow_scripts.stages.select.methods import cluster_bests, eligible
from workflow_scripts.stages.select.piece_distance import distance_matrix, tokens


def edited(sentence: list[str], random: np.random.Generator) -> list[str]:
    """Return a copy with about a quarter of its pieces replaced, dropped or doubled."""
    result = []
    for piece in sentence:
        kind = random.random()
        if kind < 0.75:
            result.append(piece)
        elif kind < 0.9:
            result.append(f"w{random.integers(2000)}")
        elif kind < 0.95:
            result += [piece, piece]
    return result


def make_reference(
    candidates: int, length: int, random: np.random.Generator
) -> tuple[str, list[dict]]:
    """Return a reference and its scored candidates."""
    sentence = [f"w{number}" for number in random.integers(2000, size=length)]
    scored = [
        {
            "text": " ".join(edited(sentence, random)),
            "sum": float(random.gamma(3.0, 0.7)),
        }
        for _ in range(candidates)
    ]
    return " ".join(sentence), scored


def main() -> None:
    """Print the mean milliseconds per reference of the whole selection and of its parts."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--references", type=int, default=300)
    parser.add_argument("--candidates", type=int, default=150)
    parser.add_argument("--length", type=int, default=20)
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    spent = {"distances": 0.0, "clusters": 0.0, "whole selection": 0.0}
    for _ in range(arguments.references):
        reference, scored = make_reference(arguments.candidates, arguments.length, random)
        sentences = [tokens(text.split()) for text in (reference, *(c["text"] for c in scored))]
        start = time.perf_counter()
        distances = distance_matrix(sentences)
        measured = time.perf_counter()
        medoid_clusters(distances, 7)
        clustered = time.perf_counter()
        cluster_bests(eligible(scored, reference, 3.5)[0], reference, str.split, 7, 5)
        spent["distances"] += measured - start
        spent["clusters"] += clustered - measured
        spent["whole selection"] += time.perf_counter() - clustered
    means = {
        part: round(1000 * time_spent / arguments.references, 3)
        for part, time_spent in spent.items()
    }
    print(json.dumps({"milliseconds_per_reference": means, **vars(arguments)}, indent=2))


if __name__ == "__main__":
    main()
