"""The words of the references of the bitext: any other word is respelt or invented.

All references count, whether they are paraphrased or not. The words stand one a line, sorted.
"""

from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.text.text_tokens import known_words


def write_words(folder: Path, shards: int, output: Path) -> None:
    """Write the words of the references of `pairs` shards, with their record.

    Memory holds each different word once.
    """
    paths = shard_paths(folder, shards)
    rows = sum(verify(path)["rows_out"] for path in paths)

    def references() -> Iterator[str]:
        for path in paths:
            for row in read_rows(path, PairRow, columns=["reference"]):
                yield row["reference"]

    words = sorted(known_words(progress(references(), rows, "words")))
    write_text(output, "".join(f"{word}\n" for word in words))
    write_record(output, rows, rows, {}, extra={"words": len(words)})


def read_words(path: Path) -> frozenset[str]:
    """Return what `write_words` wrote, after a look at its hash."""
    verify(path)
    return frozenset(path.read_text(encoding="utf-8").split("\n")[:-1])


main = command(write_words, __name__)
