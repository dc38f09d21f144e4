"""One corpus -> shards of pairs, and a list of the lines that were rejected.

How pairs find their shards, and what becomes of bad lines: docs/architecture.md, "Shards" and
"Faults and bad input".
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import sha256, shard_paths, write_record
from workflow_scripts.core.files.parquet import TableWriter
from workflow_scripts.core.files.rejected import SHOWN_BYTES, compressed_lines, escaped
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.text.entities import unescaped
from workflow_scripts.core.text.normalisation import dedup_key
from workflow_scripts.stages.corpus.pairs import Pair, Rejected, read_pairs
from workflow_scripts.stages.corpus.spill import Spill

REJECTED = "rejected.tsv.zst"
_ADVICE = "check its paths, its encoding (UTF-8) and, for TSV, its columns"
Row = Pair | Rejected


def shard_of(source: str, reference: str, shards: int, unescapes: bool = False) -> int:
    """Return the shard of a pair; pairs that count as duplicates get the same shard.

    `unescapes`: `clean` will unescape HTML entities, so these count as their characters.
    """
    if unescapes:
        source, reference = unescaped(source), unescaped(reference)
    key = dedup_key(source, reference).encode("utf-8")
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") % shards


def rejected_line(rejected: Rejected) -> str:
    """Return the TSV line of a rejected line: escaped file, number, reason, escaped start."""
    start = rejected.text[:SHOWN_BYTES].decode("utf-8", "surrogateescape")
    file = escaped(rejected.file)  # which may hold tabs and line feeds as well
    return f"{file}\t{rejected.line}\t{rejected.reason}\t{escaped(start)}\n"


def verify_downloads(hashes: dict[str, str]) -> None:
    """Check downloaded files against their SHA-256, which `hashes` has by path.

    Raises:
        InputError: a file is missing or has another hash.
    """
    for path, expected in hashes.items():
        if not Path(path).is_file() or sha256(path) != expected:
            raise InputError(
                f"{path} is not the file whose SHA-256 is {expected}; delete it and run again"
            )


def verified(rows: Iterable[Row], hashes: dict[str, str]) -> Iterator[Row]:
    """Yield rows; after the last one, before anything is published, the files are still the same.

    Raises:
        InputError: a file is not the one that was hashed.
    """
    with unchanged(hashes):
        yield from rows


def import_corpus(
    name: str,
    rows: Iterable[Row],
    shards: int,
    folder: Path,
    advice: str = _ADVICE,
    extra: dict[str, Any] | None = None,
    earlier: Mapping[str, int] | None = None,
    unescapes: bool = False,
) -> None:
    """Write a corpus' shards, its list of rejected lines, and the record of each file.

    The records add up over the folder: the record of a shard counts its pairs, the record of the
    rejected lines counts all other lines.

    Args:
        name: of the corpus.
        rows: its pairs, and what is rejected.
        shards: their number.
        folder: of the unit.
        advice: what to do if no row is a pair.
        extra: more counts for the record of the rejected lines, complete once all rows are read.
        earlier: what was left out before these rows, by reason; it is told if no row is a pair.
        unescapes: as in `shard_of`.

    Raises:
        InputError: the corpus has no pair.
    """
    rejected: Counter[str] = Counter()
    pairs = 0
    with Spill(folder, shards) as spill:
        with compressed_lines(folder / REJECTED) as write:
            for read in progress(rows, desc=f"corpus {name}: lines read"):
                if isinstance(read, Pair):
                    pairs += 1
                    shard = shard_of(read.source, read.reference, shards, unescapes)
                    spill.add(shard, (f"{name}:{read.place}", read.source, read.reference))
                else:
                    rejected[read.reason] += 1
                    write(rejected_line(read))
            if not pairs:
                rejected.update(earlier or {})
                why = ", ".join(f"{count} {reason}" for reason, count in rejected.items())
                raise InputError(
                    f"corpora.{name}: no pair in it ({why or 'the files are empty'}); {advice}"
                )
        paths = shard_paths(folder, shards)
        for shard, path in enumerate(progress(paths, shards, f"corpus {name}: shards written")):
            with TableWriter(path, PairRow) as table:
                for identity, source, reference in spill.rows(shard):
                    row: PairRow = {
                        "id": identity,
                        "source": source,
                        "reference": reference,
                        "corpus": name,
                    }
                    table.write(row)
            write_record(path, table.rows_written, table.rows_written, {})
    # Last of all: until then a power cut leaves a job to be done again, which clears the spill.
    write_record(folder / REJECTED, rejected.total(), 0, rejected, extra)


def import_shards(
    config: dict[str, Any], output: Path, inputs: dict[str, str] | None = None
) -> None:
    """Import one corpus: its lines become shards of pairs."""
    verify_downloads(config["block"].pop("sha256", {}))
    rows = read_pairs(config["name"], config["block"], config["max_line_bytes"], config["seed"])
    import_corpus(
        config["name"],
        verified(rows, inputs or {}),
        config["shards"],
        output,
        unescapes=config.get("unescapes", False),
    )


main = command(import_shards, __name__)
