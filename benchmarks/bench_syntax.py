"""Tree edit distances a second, as the stage computes them, on one core.

    python benchmarks/bench_syntax.py [--pairs 2000] [--levels 3] [--trees FILE ...]

Pairs are drawn from the truncated trees of testbed sentences, or of files in Penn Treebank
brackets: each once without what is remembered, and ten times with it. Beside them stand the pairs
of a run (a reference of the testbed with five others of its meaning), and the sentences a second
that a parser needs before: the small one of tests/stanza_package.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from tests.stanza_package import FOLDER, LANGUAGE, PACKAGE
from workflow_scripts.stages.syntax.parser import Parser
from workflow_scripts.stages.syntax.tree_distance import TreeDistance
from workflow_scripts.stages.syntax.treebank import read_trees
from workflow_scripts.stages.syntax.trees import Tree, parse
from workflow_scripts.testbed.generate import items


def sentences(paths: list[Path]) -> list[Tree]:
    """Return the trees of the files, or without any those of 3,000 testbed sentences."""
    if paths:
        return read_trees(paths)
    return [parse(item.tree) for item in items(seed=1, first=0, count=3000)]


def rates(shapes: list[str], count: int) -> dict[str, float]:
    """Return pairs a second: of different pairs, and of ten times as many lines with the same."""
    random = np.random.default_rng(1)
    drawn = [(shapes[a], shapes[b]) for a, b in random.integers(len(shapes), size=(count, 2))]
    pairs = sorted({(min(pair), max(pair)) for pair in drawn if pair[0] != pair[1]})

    def seconds(several: list[tuple[str, str]]) -> float:
        distance = TreeDistance(levels=1)  # of shapes that are cut already
        start = time.perf_counter()
        for one, other in several:
            distance.between(one, other)
        return time.perf_counter() - start

    return {
        "different pairs": len(pairs) / seconds(pairs),
        "each pair ten times": 10 * len(drawn) / seconds(drawn * 10),
    }


def of_a_run(count: int, levels: int) -> float:
    """Return pairs a second of references with five paraphrases each."""
    trees = [item.tree for item in items(seed=1, first=0, count=count // 5, realisations=6)]
    distance = TreeDistance(levels)
    shapes = [distance.shape(tree) for tree in trees]
    start = time.perf_counter()
    for first in range(0, len(shapes), 6):
        for paraphrase in shapes[first + 1 : first + 6]:
            distance.between(shapes[first], paraphrase)
    return len(shapes) / 6 * 5 / (time.perf_counter() - start)


def parsed(count: int = 600) -> float:
    """Return the sentences a second that the tests' parser reads."""
    texts = [item.reference for item in items(seed=1, first=0, count=count)]
    parser = Parser(FOLDER, LANGUAGE, PACKAGE)
    start = time.perf_counter()
    parser.parse(texts)
    return count / (time.perf_counter() - start)


def main() -> None:
    """Print the rates and the mean size of the trees."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument("--trees", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    distance = TreeDistance(arguments.levels)
    shapes = [distance.shape(tree) for tree in sentences(arguments.trees)]
    several = rates(shapes, arguments.pairs)
    several["pairs of a run"] = of_a_run(arguments.pairs, arguments.levels)
    found = {name: round(value, 1) for name, value in several.items()}
    size = round(float(np.mean([shape.count("(") for shape in shapes])), 1)
    result = {"pairs_per_second": found, "levels": arguments.levels, "nodes": size}
    print(json.dumps(result | {"sentences_parsed_per_second": round(parsed(), 1)}))


if __name__ == "__main__":
    main()
