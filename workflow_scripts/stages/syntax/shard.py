"""Parse the references and paraphrases of a shard; the trees are kept whole."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import add_inputs, json_argument, run
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.rows import ParaphrasesRow, TreesRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.core.seeding import fraction
from workflow_scripts.nmt.options import Batch, parse_with_compute
from workflow_scripts.stages.syntax.parser import Parser

# References whose sentences are parsed together: enough to fill batches of similar length.
WINDOW = 128
BATCH = Batch("--batch-sentences", 64, "sentences parsed at once")
COLUMNS = ["id", "corpus", "reference", "paraphrases"]


def is_sampled(row: ParaphrasesRow, share: float, seed: int) -> bool:
    """Return whether a reference is parsed; the id decides, so all systems parse the same ones."""
    return fraction(seed, "syntax", row["id"]) < share


def parse_rows(
    rows: list[ParaphrasesRow],
    parse: Callable[[list[str]], list[str | None]],
    share: float,
    seed: int,
) -> list[TreesRow]:
    """Parse some references and their paraphrases, each distinct text once.

    Args:
        rows: of the `paraphrases` schema, `COLUMNS` of them.
        parse: texts to bracketed trees, None where there is none.
        share: of the references that are parsed, drawn by their ids.
        seed: of the draw.

    Returns:
        Rows of the `trees` schema, one for each given row. A reference has no trees if it has no
        paraphrases, or if it was not drawn.
    """
    chosen = [row["paraphrases"] and is_sampled(row, share, seed) for row in rows]
    texts: dict[str, str | None] = {}
    for row, wanted in zip(rows, chosen, strict=True):
        if wanted:
            found = [row["reference"], *(each["text"] for each in row["paraphrases"])]
            texts.update(dict.fromkeys(found))
    texts = dict(zip(texts, parse(list(texts)), strict=True))
    return [
        {
            "id": row["id"],
            "corpus": row["corpus"],
            "parsed": bool(wanted),
            "reference": texts[row["reference"]] if wanted else None,
            "paraphrases": [texts[each["text"]] for each in row["paraphrases"]] if wanted else [],
        }
        for row, wanted in zip(rows, chosen, strict=True)
    ]


def parse_stream(
    rows: Iterable[ParaphrasesRow], parser: Parser, share: float, seed: int
) -> Iterator[TreesRow]:
    """Yield what `parse_rows` returns, for any number of rows in bounded memory."""
    rows = iter(rows)
    while window := list(islice(rows, WINDOW)):
        yield from parse_rows(window, parser.parse, share, seed)


def parse_shard(
    input_path: Path,
    output: Path,
    config: dict[str, Any],
    device: str,
    batch: int,
    inputs: dict[str, str],
) -> None:
    """Stream a `paraphrases` shard into a `trees` shard with its record.

    `inputs` are the hashes of the parser's files, which are read at the start.

    Raises:
        InputError: the shard or the parser's folder is not what it should be.
    """
    paraphrases = Input(input_path, ParaphrasesRow).rows(COLUMNS, batch_size=WINDOW)
    with unchanged(inputs):
        parser = Parser(config["folder"], config["language"], config["package"], device, batch)
    total: Counter[str] = Counter()

    def parsed(rows: Iterator[ParaphrasesRow]) -> Iterator[TreesRow]:
        for row in parse_stream(rows, parser, config["share"], config["seed"]):
            yield row
            trees = [row["reference"], *row["paraphrases"]] if row["parsed"] else []
            total["parsed"] += row["parsed"]
            total["sentences"] += len(trees)
            total["without_tree"] += trees.count(None)

    tally = Tally(extra=total)
    write_shard(
        paraphrases, parsed, output, TreesRow, "syntax", tally, shown="written", group_rows=1024
    )


def main(argv: list[str] | None = None) -> None:
    """Parse the references and paraphrases of a shard with Stanza."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--input", type=Path, required=True, help="shard of the select stage")
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
