"""Parse the references and paraphrases of a shard; the trees are kept whole."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.rows import ParaphrasesRow, TreesRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.core.seeding import fraction
from workflow_scripts.stages.syntax.parser import Parser

# References whose sentences are parsed together: enough to fill batches of similar length.
WINDOW = 128
# Sentences parsed at once.
_BATCH = 64
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
            sentences = [row["reference"], *(other["text"] for other in row["paraphrases"])]
            texts.update(dict.fromkeys(sentences))
    texts = dict(zip(texts, parse(list(texts)), strict=True))
    return [
        {
            "id": row["id"],
            "corpus": row["corpus"],
            "parsed": bool(wanted),
            "reference": texts[row["reference"]] if wanted else None,
            "paraphrases": [texts[other["text"]] for other in row["paraphrases"]] if wanted else [],
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
    config: dict[str, Any],
    paraphrases: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    device: Device = "auto",
    batch_sentences: int = _BATCH,
    threads: int = 1,
) -> None:
    """Parse the references and paraphrases of a shard with Stanza.

    Args:
        config: `folder`, `language` and `package` of the parser; `share` of the references that
            are parsed, drawn by `seed`.
        paraphrases: the `paraphrases` shard.
        output: the `trees` shard; its record stands beside it.
        batch_sentences: sentences parsed at once.

    Raises:
        InputError: the shard or the parser's folder is not what it should be.
    """
    torch.set_num_threads(threads)
    selected = Input(paraphrases, ParaphrasesRow).rows(COLUMNS, batch_size=WINDOW)
    package = (config["folder"], config["language"], config["package"])
    with unchanged(inputs or {}):
        parser = Parser(*package, device, batch_sentences)
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
        selected, parsed, output, TreesRow, "syntax", tally, shown="written", group_rows=1024
    )


main = command(parse_shard, __name__)
