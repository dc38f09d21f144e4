"""Tree edit distances a second, ours beside the library apted, on one core.

    python benchmarks/bench_syntax.py [--pairs 2000] [--levels 3] [--trees FILE ...]

Pairs are drawn from the truncated trees of testbed sentences, or of files in Penn Treebank
brackets. The cache is left out: each pair is computed, and both must agree.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from apted import APTED
from apted.helpers import Tree as AptedTree

from workflow_scripts.stages.syntax.tree_distance import TreeDistance, edit_distance, ordered
from workflow_scripts.stages.syntax.treebank import read_trees
from workflow_scripts.stages.syntax.trees import Tree, parse
from workflow_scripts.testbed.generate import items


def sentences(paths: list[Path]) -> list[Tree]:
    """Return the trees of the files, or without any those of 3,000 testbed sentences."""
    if paths:
        return read_trees(paths)
    return [parse(item.tree) for item in items(seed=1, first=0, count=3000)]


def rates(shapes: list[str], count: int) -> dict[str, float]:
    """Return pairs a second of both, and of ours with its cache over as many lines."""
    random = np.random.default_rng(1)
    drawn = [(shapes[a], shapes[b]) for a, b in random.integers(len(shapes), size=(count, 2))]
    pairs = [pair for pair in drawn if pair[0] != pair[1]]
    nested = {
        shape: AptedTree.from_text(shape.replace(" ", "").replace("(", "{").replace(")", "}"))
        for shape in shapes
    }
    numbered = {shape: ordered(shape) for shape in shapes}
    start = time.perf_counter()
    ours = [edit_distance(numbered[one], numbered[other]) for one, other in pairs]
    done = time.perf_counter()
    theirs = [APTED(nested[one], nested[other]).compute_edit_distance() for one, other in pairs]
    checked = time.perf_counter()
    if ours != theirs:
        raise SystemExit("the distances differ")
    distance = TreeDistance(levels=1)  # of shapes that are cut already
    repeated = drawn * 10
    begun = time.perf_counter()
    for one, other in repeated:
        distance.between(one, other)
    cached = time.perf_counter()
    return {
        "apted": len(pairs) / (checked - done),
        "ours": len(pairs) / (done - start),
        "ratio": (checked - done) / (done - start),
        "ours, each pair ten times": len(repeated) / (cached - begun),
    }


def main() -> None:
    """Print the rates and the mean size of the trees."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument("--trees", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    distance = TreeDistance(arguments.levels)
    shapes = [distance.shape(tree) for tree in sentences(arguments.trees)]
    found = {name: round(value, 1) for name, value in rates(shapes, arguments.pairs).items()}
    size = round(float(np.mean([shape.count("(") for shape in shapes])), 1)
    print(json.dumps({"pairs_per_second": found, "levels": arguments.levels, "nodes": size}))


if __name__ == "__main__":
    main()
