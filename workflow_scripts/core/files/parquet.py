"""Parquet tables with one declared schema per kind of file, read and written as streams."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, overload

import pyarrow as pa
import pyarrow.parquet as pq

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.files.rows import (
    COUNT_COLUMNS,
    PAIR_COLUMNS,
    CandidatesRow,
    DocumentFrequencyRow,
    EncoderPairRow,
    JudgedRow,
    PairColumnsRow,
    PairRow,
    PairScoreRow,
    ParaphrasesRow,
    ReferenceRow,
    ScoredRow,
    SegmentRow,
    StsPairRow,
    TrainingPairRow,
    TransferRow,
    TreesRow,
)

_PAIR = [
    ("id", pa.string()),
    ("source", pa.string()),
    ("reference", pa.string()),
    ("corpus", pa.string()),
]
# NLL: nats per target token, </s> included; lower is better.
SCHEMAS: dict[str, pa.Schema] = {
    "pairs": pa.schema(_PAIR),
    "pair_scores": pa.schema(
        [("id", pa.string()), ("forward_nll", pa.float32()), ("backward_nll", pa.float32())]
    ),
    "segments": pa.schema(
        [
            ("id", pa.string()),
            ("split", pa.string()),
            ("copy", pa.int32()),
            ("source", pa.string()),
            ("reference", pa.string()),
        ]
    ),
    "references": pa.schema(_PAIR),
    "document_frequencies": pa.schema([("word", pa.string()), ("references", pa.int64())]),
    "candidates": pa.schema(
        [
            *_PAIR,
            (
                "sets",
                pa.list_(
                    pa.struct(
                        [
                            ("set", pa.int32()),
                            ("variant", pa.string()),
                            ("avoid", pa.list_(pa.string())),
                            ("want", pa.list_(pa.string())),
                        ]
                    )
                ),
            ),
            ("dropped", pa.int32()),
            ("blocked", pa.int32()),
            ("unmet", pa.int32()),
            (
                "candidates",
                pa.list_(
                    pa.struct(
                        [
                            ("set", pa.int32()),
                            ("sample", pa.int32()),
                            ("variant", pa.string()),
                            ("text", pa.string()),
                            ("forward_nll", pa.float32()),
                        ]
                    )
                ),
            ),
        ]
    ),
    "scored": pa.schema(
        [
            *_PAIR,
            (
                "candidates",
                pa.list_(
                    pa.struct(
                        [
                            ("text", pa.string()),
                            ("forward_nll", pa.float32()),
                            ("backward_nll", pa.float32()),
                            ("sum", pa.float32()),
                            ("count", pa.int32()),
                            ("variant", pa.string()),
                        ]
                    )
                ),
            ),
        ]
    ),
    # One number for each candidate of the scored row, in its order; null if it was not judged.
    "judged": pa.schema([("id", pa.string()), ("probabilities", pa.list_(pa.float32()))]),
    "reference_scores": pa.schema(
        [
            ("id", pa.string()),
            ("corpus", pa.string()),
            ("forward_nll", pa.float32()),
            ("backward_nll", pa.float32()),
            ("sum", pa.float32()),
        ]
    ),
    "paraphrases": pa.schema(
        [
            *_PAIR,
            (
                "paraphrases",
                pa.list_(
                    pa.struct(
                        [
                            ("rank", pa.int32()),
                            ("text", pa.string()),
                            ("forward_nll", pa.float32()),
                            ("backward_nll", pa.float32()),
                            ("sum", pa.float32()),
                            ("cluster", pa.int32()),
                            ("variant", pa.string()),
                            ("probability", pa.float32()),
                        ]
                    )
                ),
            ),
            ("candidates", pa.int32()),
            ("kept", pa.int32()),
            ("reason", pa.string()),
        ]
    ),
    # One row for each pair of a reference and one of its paraphrases.
    "pair_columns": pa.schema(
        [
            ("id", pa.string()),
            ("reference", pa.string()),
            ("paraphrase", pa.string()),
            *(
                (column, pa.int32() if column in COUNT_COLUMNS else pa.float32())
                for column in PAIR_COLUMNS
            ),
        ]
    ),
    # One column of the same pairs, in the same order.
    "pair_values": pa.schema([("id", pa.string()), ("rank", pa.int32()), ("value", pa.float32())]),
    "training_pairs": pa.schema(
        [("id", pa.string()), ("reference", pa.string()), ("paraphrase", pa.string())]
    ),
    # Words from that with number 1 on: how often each came, in how many sentences, and in how many
    # references.
    "lexicon_words": pa.schema(
        [
            ("word", pa.string()),
            ("tokens", pa.int64()),
            ("sentences", pa.int64()),
            ("references", pa.int64()),
        ]
    ),
    # Two words, packed, and how often they are expected to be aligned.
    "lexicon_links": pa.schema([("key", pa.int64()), ("count", pa.float32())]),
    # Two words, packed, and how often they stand together.
    "lexicon_counts": pa.schema([("key", pa.int64()), ("count", pa.int64())]),
    # Two phrases, each packed, and the pairs of sentences in which they are aligned.
    "lexicon_phrases": pa.schema(
        [("first", pa.int64()), ("second", pa.int64()), ("count", pa.int64())]
    ),
    # The most frequent part of speech of words.
    "lexicon_tags": pa.schema([("word", pa.string()), ("tag", pa.string())]),
    # One row for each phrase and one of its paraphrases, best first (docs/lexicon.md).
    "lexicon": pa.schema(
        [
            ("phrase", pa.string()),
            ("paraphrase", pa.string()),
            ("tag", pa.string()),
            ("score", pa.float32()),
            ("pmi_cross", pa.float32()),
            ("pmi_within", pa.float32()),
            ("count", pa.int64()),
            ("p_paraphrase", pa.float32()),
            ("p_phrase", pa.float32()),
        ]
    ),
    "sts_pairs": pa.schema(
        [
            ("data_set", pa.string()),
            ("group", pa.string()),
            ("score", pa.float64()),
            ("first", pa.string()),
            ("second", pa.string()),
        ]
    ),
    # A sentence, or two, with its class or grade.
    "transfer_rows": pa.schema(
        [
            ("task", pa.string()),
            ("part", pa.string()),
            ("label", pa.float64()),
            ("first", pa.string()),
            ("second", pa.string()),
        ]
    ),
    "encoder_pairs": pa.schema(
        [
            ("first", pa.string()),
            ("second", pa.string()),
            ("label", pa.int8()),
            ("kind", pa.string()),
            ("cosine", pa.float32()),
        ]
    ),
    # In Penn Treebank brackets; null where a sentence has no tree.
    "trees": pa.schema(
        [
            ("id", pa.string()),
            ("corpus", pa.string()),
            ("parsed", pa.bool_()),
            ("reference", pa.string()),
            ("paraphrases", pa.list_(pa.string())),
        ]
    ),
}


def read_batches(
    path: str | Path, schema_name: str, columns: list[str] | None = None, batch_size: int = 1024
) -> Iterator[pa.RecordBatch]:
    """Yield the file's record batches, in order.

    Raises:
        InputError: the file is not Parquet, or its schema is not the declared one.
    """
    try:
        parquet = pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path}: can't be read as Parquet ({error})") from error
    with parquet:
        if not parquet.schema_arrow.equals(SCHEMAS[schema_name]):
            raise InputError(
                f"{path}: its columns are not those of '{schema_name}': "
                f"{parquet.schema_arrow.names}; it was written by another version, make it again"
            )
        yield from parquet.iter_batches(batch_size=batch_size, columns=columns)


# A schema by its name gives rows of its type; a name that is known later only gives any.
@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["pairs"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[PairRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["pair_scores"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[PairScoreRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["segments"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[SegmentRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["references"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[ReferenceRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["document_frequencies"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[DocumentFrequencyRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["candidates"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[CandidatesRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["scored"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[ScoredRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["judged"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[JudgedRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["paraphrases"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[ParaphrasesRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["pair_columns"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[PairColumnsRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["training_pairs"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[TrainingPairRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["sts_pairs"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[StsPairRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["transfer_rows"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[TransferRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["encoder_pairs"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[EncoderPairRow]: ...


@overload
def read_rows(
    path: str | Path,
    schema_name: Literal["trees"],
    columns: list[str] | None = ...,
    batch_size: int = ...,
) -> Iterator[TreesRow]: ...


@overload
def read_rows(
    path: str | Path, schema_name: str, columns: list[str] | None = ..., batch_size: int = ...
) -> Iterator[Any]: ...
def read_rows(
    path: str | Path, schema_name: str, columns: list[str] | None = None, batch_size: int = 1024
) -> Iterator[Any]:
    """Yield the file's rows as dicts, in order; see `read_batches`.

    With `columns` a row has only these keys.
    """
    for batch in read_batches(path, schema_name, columns, batch_size):
        yield from batch.to_pylist()


def count_rows(path: str | Path) -> int:
    """Return the number of rows, from the file's footer alone."""
    return pq.read_metadata(path).num_rows


class TableWriter:
    """Write rows to a Parquet file that appears whole when the block ends.

    Memory holds at most `group_rows` rows and those of one call. The bytes depend on the rows
    alone.
    """

    def __init__(self, path: str | Path, schema_name: str, group_rows: int = 8192):
        self._path = path
        self._schema = SCHEMAS[schema_name]
        self._group_rows = group_rows
        self._rows: list[Mapping[str, object]] = []
        self._tables: list[pa.Table] = []
        self.rows_written = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            temporary = stack.enter_context(atomic_path(self._path))
            self._writer = stack.enter_context(
                pq.ParquetWriter(temporary, self._schema, compression="zstd", compression_level=3)
            )
            self._stack = stack.pop_all()
        return self

    def write(self, row: Mapping[str, object]) -> None:
        """Add one row: a mapping with exactly the schema's columns."""
        if row.keys() != set(self._schema.names):
            raise ValueError(f"columns {sorted(row)} where {sorted(self._schema.names)} belong")
        self._rows.append(row)
        self.rows_written += 1
        if len(self._rows) >= self._group_rows:
            self._flush()

    def write_columns(self, columns: dict[str, Any]) -> None:
        """Add some rows: arrays of one length by the schema's columns, cast to their types."""
        arrays = [pa.array(columns[field.name]).cast(field.type) for field in self._schema]
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        self._take_rows()
        self._tables.append(table)
        self.rows_written += len(table)
        if sum(map(len, self._tables)) >= self._group_rows:
            self._flush()

    def _take_rows(self) -> None:
        if self._rows:
            self._tables.append(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []

    def _flush(self, end: bool = False) -> None:
        """Write whole groups of rows, so that it makes no difference how the rows came."""
        self._take_rows()
        if not self._tables:
            return
        table = pa.concat_tables(self._tables)
        rows = len(table) if end else len(table) - len(table) % self._group_rows
        if rows:
            self._writer.write_table(table.slice(0, rows), row_group_size=self._group_rows)
        self._tables = [table.slice(rows)] if rows < len(table) else []

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._stack:
            if error is not None:
                raise error
            self._flush(end=True)
