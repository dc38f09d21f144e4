"""What the two ways to begin the clusters keep, on the candidates of a run (docs/select.md).

    python benchmarks/bench_centres.py --scores FOLDER --threshold FILE --model FOLDER

FOLDER of --scores has the shards of `score` of one system, FILE is the threshold.json of its
selection, --model the folder of the forward model, for its pieces.
"""

import argparse
import json
from itertools import combinations
from pathlib import Path

import numpy as np

from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ScoredRow
from workflow_scripts.stages.evaluate.diversity import bleu_counts, one_minus_bleu, sentence
from workflow_scripts.stages.select.cluster import CENTRES
from workflow_scripts.stages.select.methods import cluster_bests, eligible
from workflow_scripts.stages.select.piece_distance import distance_matrix, tokens
from workflow_scripts.stages.select.shard import read_bounds
from workflow_scripts.stages.subword.segmenter import Segmenter, segmenter_path


class Kept:
    """Figures of all that one way keeps."""

    def __init__(self) -> None:
        self.paraphrases = 0
        self.sums: list[float] = []
        self.distances: list[int] = []
        self.to_reference = np.zeros((2, 4), np.int64)
        self.to_each_other = np.zeros((2, 4), np.int64)

    def add(self, reference: str, chosen: list, segmenter: Segmenter) -> None:
        """Count what is kept of one reference."""
        texts = [each.candidate["text"] for each in chosen]
        self.paraphrases += len(texts)
        self.sums += [each.candidate["sum"] for each in chosen]
        own, *others = map(sentence, [reference, *texts])
        for each in others:
            self.to_reference += bleu_counts(own, each)
        for one, other in combinations(others, 2):
            self.to_each_other += bleu_counts(one, other)
        found = distance_matrix([tokens(segmenter.pieces(text)) for text in texts])
        self.distances += found[np.triu_indices(len(texts), 1)].tolist()

    def figures(self) -> dict[str, float]:
        """Return the means."""
        return {
            "paraphrases": self.paraphrases,
            "mean sum": round(float(np.mean(self.sums)), 4),
            "1-BLEU to reference": round(float(one_minus_bleu(self.to_reference)), 2),
            "1-BLEU to each other": round(float(one_minus_bleu(self.to_each_other)), 2),
            "edit distance to each other": round(float(np.mean(self.distances)), 3),
        }


def main() -> None:
    """Print the figures of both ways, and how often they keep the same."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--threshold", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--clusters", type=int, default=7)
    parser.add_argument("--best", type=int, default=5)
    parser.add_argument("--references", type=int, help="at most; default: all")
    options = parser.parse_args()
    max_sum, _ = read_bounds(options.threshold)
    segmenter = Segmenter(segmenter_path(options.model, "reference"))
    kept = {centres: Kept() for centres in CENTRES}
    references = same = 0
    for path in sorted(options.scores.glob("*.parquet")):
        for row in read_rows(path, ScoredRow):
            if references == options.references:
                break
            candidates = [{**each, "probability": None} for each in row["candidates"]]
            left, _ = eligible(candidates, row["reference"], max_sum)
            if not left:
                continue
            references += 1
            texts = []
            for centres, figures in kept.items():
                chosen, _ = cluster_bests(
                    left,
                    row["reference"],
                    segmenter.pieces,
                    options.clusters,
                    options.best,
                    centres=centres,
                )
                figures.add(row["reference"], chosen, segmenter)
                texts.append([each.candidate["text"] for each in chosen])
            same += texts[0] == texts[1]
    found = {centres: figures.figures() for centres, figures in kept.items()}
    print(json.dumps({"references": references, "same": same, **found}, indent=2))


if __name__ == "__main__":
    main()
