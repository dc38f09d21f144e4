"""How much the syntax of paraphrases differs from that of their references (ParaBank 2, 3.6)."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.files.rows import TreesRow
from workflow_scripts.core.statistics.bootstrap import BLOCKS, means, rank_intervals
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.plan.reference_groups import OTHER, group_of
from workflow_scripts.stages.evaluate.diversity import mean
from workflow_scripts.stages.syntax.tree_distance import TreeDistance, distances

COLUMNS = ["corpus", "parsed", "reference", "paraphrases"]


class Syntax:
    """Running sums of tree edit distances over the references of a group.

    A reference counts if it was drawn for parsing and all its sentences have trees.
    """

    def __init__(self, best: int):
        self.best = best
        self.without_trees = 0
        self.between = dict.fromkeys(combinations(range(best), 2), 0)
        # By bootstrap block, shape (1 + best): references, then the distances by rank.
        self.blocks: dict[int, NDArray[np.int64]] = {}

    def add(self, distance: TreeDistance, trees: TreesRow, block: int) -> None:
        """Count one row of the `trees` schema.

        Args:
            distance: of trees.
            trees: the row. A reference without paraphrases does not count, nor one that was not
                drawn. The first `best` paraphrases count; if there are fewer, the last one counts
                for the ranks that are missing.
            block: the bootstrap block that the reference belongs to.
        """
        if not trees["parsed"]:
            return
        listed = trees["paraphrases"][: self.best]
        present = [tree for tree in listed if tree is not None]
        if trees["reference"] is None or len(present) < len(listed):
            self.without_trees += 1
            return
        reference = distance.shape(trees["reference"])
        shapes = [distance.shape(tree) for tree in present]
        shapes += [shapes[-1]] * (self.best - len(shapes))
        sums = self.blocks.setdefault(block, np.zeros(1 + self.best, dtype=np.int64))
        sums += [1, *(distance.between(reference, shape) for shape in shapes)]
        for better, worse in self.between:
            self.between[better, worse] += distance.between(shapes[better], shapes[worse])

    def merge(self, other: "Syntax") -> None:
        """Add the sums of other references."""
        self.without_trees += other.without_trees
        for pair, total in other.between.items():
            self.between[pair] += total
        for block, sums in other.blocks.items():
            self.blocks[block] = self.blocks.get(block, 0) + sums

    def result(self, samples: int, seed: int) -> dict[str, Any] | None:
        """Return the group's `syntax` in measures.json; None if no reference counts."""
        if not self.blocks:
            return None
        blocks = np.stack([self.blocks[block] for block in sorted(self.blocks)])
        references, *totals = blocks.sum(axis=0).tolist()
        by_rank, interval = rank_intervals(blocks, means, samples, seed)
        return {
            "references": references,
            "without_trees": self.without_trees,
            "ranks": [
                {"rank": rank, "tree_edit_distance": mean(total, references), "interval": ends}
                for rank, (total, ends) in enumerate(zip(totals, by_rank, strict=True), 1)
            ],
            "difference": {
                "tree_edit_distance": round((totals[-1] - totals[0]) / references, DECIMALS),
                **interval,
            },
            "between": [
                {
                    "first": better + 1,
                    "second": worse + 1,
                    "tree_edit_distance": mean(total, references),
                }
                for (better, worse), total in self.between.items()
            ],
        }


def measure_trees(
    rows: Iterable[TreesRow], config: dict[str, Any], levels: int, start: int = 0
) -> dict[str, Syntax]:
    """Return the sums of each group over rows of the `trees` schema.

    Args:
        rows: `COLUMNS` of them.
        config: the stage's settings.
        levels: how many levels of the trees count.
        start: number of the first row within the whole corpus.

    Returns:
        The groups of the config, which share no reference, and `OTHER` for all other references.
    """
    membership = group_of(config["groups"])
    distance = distances(levels)
    groups = {name: Syntax(config["best"]) for name in [*config["groups"], OTHER]}
    for number, row in enumerate(rows, start):
        groups[membership.get(row["corpus"], OTHER)].add(distance, row, number % BLOCKS)
    return groups


def tree_summary(groups: dict[str, Syntax], config: dict[str, Any]) -> dict[str, Any]:
    """Return `syntax` of measures.json: the distances of all references and of each group."""
    everything = Syntax(config["best"])
    for group in groups.values():
        everything.merge(group)
    shown = {"all": everything, **{name: groups[name] for name in config["groups"]}}
    return {
        name: group.result(config["bootstrap"], config["seed"]) for name, group in shown.items()
    }
