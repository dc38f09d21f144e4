"""Parse both texts of the pairs of a rewriter, shard by shard.

The parser and its job are those of the stage `syntax`. A row of trees has the tree of the text that
is written as `reference`, and that of the text that is read alone in `paraphrases`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.rows import PairRow, TreesRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.stages.syntax.parser import Parser
from workflow_scripts.stages.syntax.shard import WINDOW

Parse = Callable[[list[str]], list[str | None]]


def parse_pairs(rows: list[PairRow], parse: Parse) -> list[TreesRow]:
    """Return the trees of some pairs, in their order; each distinct text is parsed once."""
    texts = list(dict.fromkeys(text for row in rows for text in (row["reference"], row["source"])))
    trees = dict(zip(texts, parse(texts), strict=True))
    return [
        {
            "id": row["id"],
            "corpus": row["corpus"],
            "parsed": True,
            "reference": trees[row["reference"]],
            "paraphrases": [trees[row["source"]]],
        }
        for row in rows
    ]


def parse_shard(
    config: dict[str, Any],
    pairs: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    device: Device = "auto",
    threads: int = 1,
) -> None:
    """Parse both texts of the pairs of a shard with Stanza.

    Args:
        config: `folder`, `package` and `language` of the parser.
        pairs: the shard.
        output: the shard of trees, beside which its record is written.

    Raises:
        InputError: the shard or the parser's folder is not what it should be.
    """
    torch.set_num_threads(threads)
    stream = Input(pairs, PairRow).rows(batch_size=WINDOW)
    with unchanged(inputs or {}):
        parser = Parser(config["folder"], config["language"], config["package"], device)
    total: Counter[str] = Counter()

    def parsed(rows: Iterator[PairRow]) -> Iterator[TreesRow]:
        while window := list(islice(rows, WINDOW)):
            for row in parse_pairs(window, parser.parse):
                yield row
                trees = [row["reference"], *row["paraphrases"]]
                total["sentences"] += len(trees)
                total["without_tree"] += trees.count(None)

    write_shard(
        stream, parsed, output, TreesRow, f"parse {pairs.stem}", Tally(extra=total), shown="written"
    )


main = command(parse_shard, __name__)
