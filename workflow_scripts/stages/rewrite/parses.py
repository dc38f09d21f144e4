"""Parse both texts of the pairs of a rewriter, shard by shard.

The parser and its job are those of the stage `syntax`. A row of trees has the tree of the text that
is written as `reference`, and that of the text that is read alone in `paraphrases`.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import add_inputs, json_argument, run
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.rows import PairRow, TreesRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.nmt.options import parse_with_compute
from workflow_scripts.stages.syntax.parser import Parser
from workflow_scripts.stages.syntax.shard import BATCH, WINDOW

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
    pairs: Path,
    output: Path,
    config: dict[str, Any],
    device: str,
    batch: int,
    inputs: dict[str, str],
) -> None:
    """Stream a shard of pairs into a shard of trees with its record.

    Args:
        pairs: the shard.
        output: to write.
        config: `folder`, `package` and `language` of the parser.
        device: of torch.
        batch: sentences parsed at once.
        inputs: the hashes of the parser's files, which are read at the start.

    Raises:
        InputError: the shard or the parser's folder is not what it should be.
    """
    stream = Input(pairs, PairRow).rows(batch_size=WINDOW)
    with unchanged(inputs):
        parser = Parser(config["folder"], config["language"], config["package"], device, batch)
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


def main(argv: list[str] | None = None) -> None:
    """Parse both texts of the pairs of a shard with Stanza."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--input", type=Path, required=True, help="shard of pairs")
    add_inputs(parser)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parse_with_compute(parser, argv, BATCH)
    parse_shard(
        arguments.input,
        arguments.output,
        arguments.config,
        arguments.device,
        arguments.batch_sentences,
        arguments.inputs,
    )


if __name__ == "__main__":
    run(main)
