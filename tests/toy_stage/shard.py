"""Count the words of a share of the released references."""

import argparse
import json
from pathlib import Path

import pyarrow.parquet as pq

from workflow_scripts.core.cli import run
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.seeding import fraction


def main(argv: list[str] | None = None) -> None:
    """Write one shard: the id of each reference and its number of words."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json.loads, required=True, help="JSON")
    parser.add_argument("--folder", type=Path, required=True, help="of the release")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    words: dict[str, int] = {}
    for system in arguments.config["systems"]:
        released = arguments.folder / system / "paraphrases.parquet"
        verify(released)
        for row in pq.read_table(released, columns=["id", "reference"]).to_pylist():
            words[row["id"]] = len(row["reference"].split())
    mine = {
        identifier: count
        for identifier, count in words.items()
        if int(fraction(0, "toy", identifier) * arguments.shards) == int(arguments.output.stem)
        and count >= arguments.config["min_words"]
    }
    write_text(arguments.output, "".join(f"{key}\t{count}\n" for key, count in mine.items()))
    write_record(arguments.output, len(mine), len(mine), {})


if __name__ == "__main__":
    run(main)
