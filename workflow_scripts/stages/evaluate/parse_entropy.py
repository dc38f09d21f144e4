"""Parse entropy of both sides of some pairs: entropy of their trees' top levels (PNMT Table 1)."""

from collections import Counter
from collections.abc import Callable, Iterable

from workflow_scripts.core.files.rows import TreesRow
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.syntax.trees import entropy, parse, truncate

COLUMNS = ["id", "parsed", "reference", "paraphrases"]
LEVELS = 2

# How often each truncated tree occurs, by side.
Shapes = dict[str, Counter[str]]


def count_shapes(rows: Iterable[TreesRow], is_sampled: Callable[[str, int], bool]) -> Shapes:
    """Return the truncated trees of the sampled pairs, by side.

    Args:
        rows: of the `trees` schema, `COLUMNS` of them.
        is_sampled: takes a reference's id and a paraphrase's rank, and tells whether the pair
            counts. A reference counts once if any of its pairs counts.
    """
    shapes: Shapes = {"references": Counter(), "paraphrases": Counter()}
    for row in rows:
        if not row["parsed"]:
            continue
        # Paraphrases are listed by rank.
        sampled = [
            tree for rank, tree in enumerate(row["paraphrases"], 1) if is_sampled(row["id"], rank)
        ]
        sides = {"references": [row["reference"]] if sampled else [], "paraphrases": sampled}
        for side, trees in sides.items():
            shapes[side].update(truncate(parse(tree), LEVELS) for tree in trees if tree)
    return shapes


def parse_entropy(shapes: Counter[str]) -> dict[str, float | int | None]:
    """Return the number of `trees` of a side and their `entropy` in nats, None without any."""
    trees = shapes.total()
    figure = round(entropy(shapes.elements()), DECIMALS) if trees else None
    return {"trees": trees, "entropy": figure}
