"""Collect the words of all references of the bitext: other words are respelt or invented ones.

The words are those of the features: as they stand, apart at their apostrophes.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.core.cli import run
from workflow_scripts.core.manifest import shard_paths, verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.core.shard import Input
from workflow_scripts.core.tables import TableWriter, read_rows
from workflow_scripts.core.tokens import known_words
from workflow_scripts.generate.idf import document_frequencies


def collect(folder: Path, shards: int, output: Path) -> None:
    """Write the words of all references of `pairs` shards, each with the number of its references.

    Memory grows neither with the corpus nor with its vocabulary.

    Raises:
        InputError: a shard is damaged.
    """
    pairs = Input(shard_paths(folder, shards), "pairs")
    rows = 0

    def references() -> Iterator[str]:
        nonlocal rows
        for row in progress(pairs.rows(["reference"]).items, pairs.count(), "words"):
            rows += 1
            yield row["reference"]

    with (
        tempfile.TemporaryDirectory(prefix="paraloom-words-") as temporary,
        TableWriter(output, "document_frequencies") as writer,
    ):
        counted = document_frequencies(references(), Path(temporary), words=_words)
        for word, count in counted:
            writer.write({"word": word, "references": count})
    write_record(output, rows, rows, {}, extra={"words": writer.rows_written})


def _words(reference: str) -> set[str]:
    return known_words([reference])


def read_words(path: Path) -> frozenset[str]:
    """Return the words that `collect` wrote: memory holds all of them.

    Raises:
        InputError: the file is damaged.
    """
    verify(path)
    return frozenset(row["word"] for row in read_rows(path, "document_frequencies", ["word"]))


def main(argv: list[str] | None = None) -> None:
    """Collect the words of all references."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="with shards of pairs")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True, help="words.parquet")
    arguments = parser.parse_args(argv)
    collect(arguments.folder, arguments.shards, arguments.output)


if __name__ == "__main__":
    run(main)
