"""Write the released corpus: TSV for people and the shell, Parquet for `datasets`.

Both have one row for each reference, also for a reference without paraphrases. The score is the sum
of the forward and the backward NLL, in nats per target token: lower is better. The probability is
that of a judge that the paraphrase is good: higher is better; it is empty without a judge.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import TypedDict

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from workflow_scripts.core.atomic import atomic_path
from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.manifest import shard_paths, verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.core.rows import ParaphrasesRow
from workflow_scripts.core.tables import read_rows

COLUMNS = ["id", "reference", "paraphrases"]
PARAPHRASE_FIELDS = {
    "text": pa.string(),
    "score": pa.float32(),
    "forward_nll": pa.float32(),
    "backward_nll": pa.float32(),
    "probability": pa.float32(),
}
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("reference", pa.string()),
        ("paraphrases", pa.list_(pa.struct(PARAPHRASE_FIELDS))),
    ]
)
GROUP_ROWS = 8192
ZSTD_LEVEL = 10
# As PostgreSQL's COPY text format: a field never holds what ends a field or a line.
_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


class ReleasedParaphrase(TypedDict):
    """A paraphrase of a row of `SCHEMA`."""

    text: str
    score: float | None
    forward_nll: float
    backward_nll: float | None
    probability: float | None


class ReleasedRow(TypedDict):
    """A row of `SCHEMA`."""

    id: str
    reference: str
    paraphrases: list[ReleasedParaphrase]


def escape(text: str) -> str:
    r"""Return `text` with backslash, tab, line feed and carriage return as \\, \t, \n and \r."""
    return text.translate(_ESCAPES)


def header(best: int) -> str:
    """Return the TSV's first line: probabilities come last, where earlier versions had nothing."""
    ranks = range(1, best + 1)
    pairs = (f"paraphrase_{rank}\tscore_{rank}" for rank in ranks)
    return "\t".join(["id", "reference", *pairs, *(f"probability_{rank}" for rank in ranks)])


def tsv_line(row: ParaphrasesRow, best: int) -> str:
    """Return one reference as a line of 2 + 3 x `best` fields.

    Fields of ranks that the reference does not have are empty, and so is a score or a probability
    that was not computed. A score is `inf` if the backward model can't read the paraphrase.
    """
    fields, probabilities = [row["id"], row["reference"]], []
    for paraphrase in row["paraphrases"][:best]:
        fields += [paraphrase["text"], _figure(paraphrase["sum"])]
        probabilities.append(_figure(paraphrase["probability"]))
    fields += [""] * (2 + 2 * best - len(fields))
    probabilities += [""] * (best - len(probabilities))
    return "\t".join(map(escape, fields + probabilities))


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def parquet_row(row: ParaphrasesRow, best: int) -> ReleasedRow:
    """Return one reference as a row of `SCHEMA`."""
    paraphrases: list[ReleasedParaphrase] = [
        {
            "text": paraphrase["text"],
            "score": paraphrase["sum"],
            "forward_nll": paraphrase["forward_nll"],
            "backward_nll": paraphrase["backward_nll"],
            "probability": paraphrase["probability"],
        }
        for paraphrase in row["paraphrases"][:best]
    ]
    return {"id": row["id"], "reference": row["reference"], "paraphrases": paraphrases}


@contextmanager
def tsv_writer(path: Path) -> Iterator[TextIOWrapper]:
    """Open a zstd-compressed UTF-8 text file; it appears, whole, when the block ends."""
    compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)
    with (
        atomic_path(path) as temporary,
        temporary.open("wb") as raw,
        compressor.stream_writer(raw) as compressed,
        TextIOWrapper(compressed, encoding="utf-8", newline="\n") as text,
    ):
        yield text


@contextmanager
def parquet_writer(path: Path) -> Iterator[pq.ParquetWriter]:
    """Open a Parquet file of `SCHEMA`; it appears, whole, when the block ends."""
    with (
        atomic_path(path) as temporary,
        pq.ParquetWriter(
            temporary, SCHEMA, compression="zstd", compression_level=ZSTD_LEVEL
        ) as writer,
    ):
        yield writer


def export(shards: list[Path], output: Path, best: int) -> None:
    """Stream shards of the select stage into the two files of a release and their record.

    Memory holds one row group. The record of both files, `paraphrases.json`, is written last.
    """
    total = sum(verify(path)["rows_out"] for path in shards)
    rows = progress(
        chain.from_iterable(read_rows(path, "paraphrases", COLUMNS) for path in shards),
        total,
        "export",
    )
    tsv, parquet = output / "paraphrases.tsv.zst", output / "paraphrases.parquet"
    paraphrases = 0
    with tsv_writer(tsv) as lines, parquet_writer(parquet) as tables:
        lines.write(header(best) + "\n")
        while group := list(islice(rows, GROUP_ROWS)):
            lines.writelines(tsv_line(row, best) + "\n" for row in group)
            released = [parquet_row(row, best) for row in group]
            tables.write_table(pa.Table.from_pylist(released, schema=SCHEMA))
            paraphrases += sum(len(row["paraphrases"]) for row in released)
    write_record(
        parquet, total, total, {}, extra={"paraphrases": paraphrases}, files=[tsv, parquet]
    )


def main(argv: list[str] | None = None) -> None:
    """Write the released corpus of one system."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--folder", type=Path, required=True, help="of the select stage")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True, help="folder")
    arguments = parser.parse_args(argv)
    shards = shard_paths(arguments.folder, arguments.shards)
    export(shards, arguments.output, arguments.config["best"])


if __name__ == "__main__":
    run(main)
