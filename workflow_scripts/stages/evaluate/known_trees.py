"""How much a parser's errors change the tree edit distance, on the testbed, where trees are known.

python -m workflow_scripts.stages.evaluate.known_trees
  --folder SELECT --trees SYNTAX --shards 2 --best 5
"""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import CommandParser, positive, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import shard_paths, verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow, TreesRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.statistics.bootstrap import BLOCKS
from workflow_scripts.stages.evaluate.syntax import Syntax
from workflow_scripts.stages.syntax.brackets import Bracketing
from workflow_scripts.stages.syntax.tree_distance import TreeDistance
from workflow_scripts.stages.syntax.trees import parse
from workflow_scripts.testbed.chart_parser import readings
from workflow_scripts.testbed.english import realisations

# Realisations of one meaning that are searched; nearly all meanings have fewer.
LIMIT = 5000
_CACHE = 1 << 14


@lru_cache(_CACHE)
def known_tree(text: str) -> str | None:
    """Return the tree that the testbed's grammar gives a sentence; None outside the grammar."""
    wanted = " ".join(text.lower().split())
    for meaning in dict.fromkeys(reading.meaning for reading in readings(text)):
        for realisation in realisations(meaning, LIMIT):
            if realisation.text.lower() == wanted:
                return realisation.tree
    return None


def joined(
    paraphrases: Iterable[ParaphrasesRow], trees: Iterable[TreesRow]
) -> Iterator[tuple[ParaphrasesRow, TreesRow]]:
    """Yield the rows of both schemas that belong to one reference, if it was parsed.

    Raises:
        InputError: the two are not of the same references.
    """
    for row, parsed in zip_longest(paraphrases, trees):
        if row is None or parsed is None or row["id"] != parsed["id"]:
            first, second = (side["id"] if side else "nothing" for side in (row, parsed))
            raise InputError(
                f"{first} of --folder meets {second} of --trees; give folders of one run"
            )
        if parsed["parsed"]:
            yield row, parsed


def _complete(trees: Iterable[str | None]) -> list[str] | None:
    """Return the trees; None if one is missing."""
    listed = list(trees)
    known = [tree for tree in listed if tree is not None]
    return known if len(known) == len(listed) else None


def compare(
    rows: Iterable[tuple[ParaphrasesRow, TreesRow]],
    best: int,
    levels: int,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """Compare known and parsed trees of the references whose sentences all have both.

    Args:
        rows: as `joined` gives them.
        best: paraphrases of a reference at most.
        levels: how many levels of the trees count for the distance.
        samples: bootstrap samples behind the intervals.
        seed: of the draws.

    Returns:
        `references`; how many were left out (`without_known_trees`); `f1` of their sentences,
        labelled bracketing F1 x 100; by rank the distances between `known` trees, and those
        between `parsed` trees, each None if there is no reference.
    """
    distance = TreeDistance(levels)
    known, parsed = Syntax(best), Syntax(best)
    counts = Bracketing()
    left_out = 0
    for number, (row, trees) in enumerate(rows):
        listed = row["paraphrases"][:best]
        texts = [row["reference"], *(paraphrase["text"] for paraphrase in listed)]
        gold = _complete(known_tree(text) for text in texts)
        guessed = _complete([trees["reference"], *trees["paraphrases"][:best]])
        if gold is None or guessed is None:
            left_out += 1
            continue
        for one, other in zip(gold, guessed, strict=True):
            counts.add(parse(one), parse(other))
        for group, (reference, *others) in ((known, gold), (parsed, guessed)):
            row_of_trees: TreesRow = {
                "id": trees["id"],
                "corpus": trees["corpus"],
                "parsed": True,
                "reference": reference,
                "paraphrases": [*others],
            }
            group.add(distance, row_of_trees, number % BLOCKS)
    return {
        "references": counts.trees and sum(int(sums[0]) for sums in known.blocks.values()),
        "without_known_trees": left_out,
        "f1": round(100 * counts.f1, 2) if counts.trees else None,
        "known": known.result(samples, seed),
        "parsed": parsed.result(samples, seed),
    }


def _verified(folder: Path, shards: int) -> Iterator[Path]:
    for path in shard_paths(folder, shards):
        verify(path)
        yield path


def main(argv: list[str] | None = None) -> None:
    """Print tree edit distances by rank between known and between parsed trees, as JSON."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="of the select stage")
    parser.add_argument("--trees", type=Path, required=True, help="folder of the syntax stage")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--best", type=positive, required=True, help="ranks")
    parser.add_argument("--levels", type=positive, default=3, help="of the trees that count (3)")
    parser.add_argument("--bootstrap", type=positive, default=1000, help="samples (1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the bootstrap (1)")
    arguments = parser.parse_args(argv)
    selected = _verified(arguments.folder, arguments.shards)
    parsed = _verified(arguments.trees, arguments.shards)
    paraphrases = (row for path in selected for row in read_rows(path, ParaphrasesRow))
    trees = (row for path in parsed for row in read_rows(path, TreesRow))
    rows = progress(joined(paraphrases, trees), desc="references")
    figures = compare(rows, arguments.best, arguments.levels, arguments.bootstrap, arguments.seed)
    print(json.dumps(figures))


if __name__ == "__main__":
    run(main)
