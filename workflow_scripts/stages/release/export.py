"""Write the released corpus: TSV for people and the shell, Parquet for `datasets`.

Both have one row for each reference, also for a reference without paraphrases. The score is the sum
of the forward and the backward NLL, in nats per target token: lower is better. The probability is
that of a judge that the paraphrase is good: higher is better; it is empty without a judge. New
words are content words that the reference has not, lost words those that only the reference has:
without any of either both differ by function words alone. In a merge of runs each reference and
each paraphrase also has its sources: the runs that it comes from, with their source languages and
corpora.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pyarrow as pa
import pyarrow.parquet as pq

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.packed_writers import ZSTD_LEVEL, zstd_writer
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.core.files.tsv import escape
from workflow_scripts.core.progress import progress
from workflow_scripts.plan.catalogues.merges import AND, OF
from workflow_scripts.stages.score.near_doubles import word_changes

COLUMNS = ["id", "reference", "paraphrases"]
PARAPHRASE_FIELDS = {
    "text": pa.string(),
    "score": pa.float32(),
    "forward_nll": pa.float32(),
    "backward_nll": pa.float32(),
    "probability": pa.float32(),
    "new_words": pa.int32(),
    "lost_words": pa.int32(),
}
# Of these fields, those that stand behind all texts and scores in the TSV.
LATER_FIGURES: tuple[Literal["probability", "new_words", "lost_words"], ...] = (
    "probability",
    "new_words",
    "lost_words",
)
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("reference", pa.string()),
        ("paraphrases", pa.list_(pa.struct(PARAPHRASE_FIELDS))),
    ]
)
# Where a reference or a paraphrase of a merge comes from.
SOURCES = pa.list_(
    pa.struct([("run", pa.string()), ("language", pa.string()), ("corpus", pa.string())])
)
# What stands for the source of a reference where others have written ones.
BITEXT = "bitext"
GROUP_ROWS = 8192


class Source(TypedDict):
    """Where a text of a merge comes from: the name of a run there, and its corpus."""

    run: str
    language: str
    corpus: str


class ReleasedParaphrase(TypedDict):
    """A paraphrase of a row of the Parquet file; only a merge has sources."""

    text: str
    score: float | None
    forward_nll: float
    backward_nll: float | None
    probability: float | None
    new_words: int
    lost_words: int
    sources: NotRequired[list[Source]]


class ReleasedRow(TypedDict):
    """A row of the Parquet file.

    Only a merge has sources, and only a run with written sources says of each row's what it is.
    """

    id: str
    reference: str
    paraphrases: list[ReleasedParaphrase]
    sources: NotRequired[list[Source]]
    source: NotRequired[str]


def schema(merged: bool, marked: bool = False) -> pa.Schema:
    """Return the schema of the Parquet file: `SCHEMA`, for a merge with sources.

    With `marked` it says of each reference whether its source was written by a model.
    """
    if marked:
        return SCHEMA.append(pa.field("source", pa.string()))
    if not merged:
        return SCHEMA
    fields = {**PARAPHRASE_FIELDS, "sources": SOURCES}
    *texts, _ = SCHEMA
    return pa.schema([*texts, ("paraphrases", pa.list_(pa.struct(fields))), ("sources", SOURCES)])


def sources(tags: str, languages: Mapping[str, str]) -> list[Source]:
    """Return what the tags of a merge say (`score.merge`).

    Args:
        tags: of a reference or a paraphrase.
        languages: the source language of each run, by its name.
    """
    pairs = (tag.split(OF, 1) for tag in tags.split(AND))
    return [{"run": run, "language": languages[run], "corpus": corpus} for run, corpus in pairs]


def header(best: int, merged: bool = False, marked: bool = False) -> str:
    """Return the TSV's first line: `LATER_FIGURES` come last, but for what is said of sources."""
    ranks = range(1, best + 1)
    pairs = (f"paraphrase_{rank}\tscore_{rank}" for rank in ranks)
    more = ["sources", *(f"sources_{rank}" for rank in ranks)] if merged else []
    figures = (f"{name}_{rank}" for name in LATER_FIGURES for rank in ranks)
    more += ["source"] if marked else []
    names = ["id", "reference", *pairs, *figures, *more]
    return "\t".join(names)


def tsv_line(
    row: ParaphrasesRow,
    best: int,
    language: str,
    merged: bool = False,
    written: Mapping[str, str] | None = None,
) -> str:
    """Return one reference as a line with the fields of `header`.

    Fields of ranks that the reference does not have are empty, and so is a score or a probability
    that was not computed. A score is `inf` if the backward model can't read the paraphrase.
    """
    listed = _paraphrases(row, best, language)
    missing = [""] * (best - len(listed))
    pairs = [[paraphrase["text"], _figure(paraphrase["score"])] for paraphrase in listed]
    fields = [row["id"], row["reference"], *chain.from_iterable(pairs), *missing, *missing]
    for figure in LATER_FIGURES:
        fields += [*(_figure(paraphrase[figure]) for paraphrase in listed), *missing]
    if merged:
        tags = (paraphrase["variant"] for paraphrase in row["paraphrases"][:best])
        fields += [row["corpus"], *tags, *missing]
    if written:
        fields.append(written.get(row["corpus"], BITEXT))
    return "\t".join(map(escape, fields))


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _paraphrases(row: ParaphrasesRow, best: int, language: str) -> list[ReleasedParaphrase]:
    listed: list[ReleasedParaphrase] = []
    for paraphrase in row["paraphrases"][:best]:
        new, lost = word_changes(row["reference"], paraphrase["text"], language)
        listed.append(
            {
                "text": paraphrase["text"],
                "score": paraphrase["sum"],
                "forward_nll": paraphrase["forward_nll"],
                "backward_nll": paraphrase["backward_nll"],
                "probability": paraphrase["probability"],
                "new_words": new,
                "lost_words": lost,
            }
        )
    return listed


def parquet_row(
    row: ParaphrasesRow,
    best: int,
    language: str,
    languages: Mapping[str, str] | None = None,
    written: Mapping[str, str] | None = None,
) -> ReleasedRow:
    """Return one reference as a row of the Parquet file.

    Args:
        row: the reference.
        best: how many paraphrases at most.
        language: of the references (ISO 639).
        languages: for a merge, the source language of each run by its name.
        written: what to say of the sources of corpora that a model wrote, by corpus.
    """
    paraphrases = _paraphrases(row, best, language)
    released: ReleasedRow = {
        "id": row["id"],
        "reference": row["reference"],
        "paraphrases": paraphrases,
    }
    if languages is not None:
        released["sources"] = sources(row["corpus"], languages)
        for released_paraphrase, paraphrase in zip(paraphrases, row["paraphrases"], strict=False):
            released_paraphrase["sources"] = sources(paraphrase["variant"], languages)
    if written:
        released["source"] = written.get(row["corpus"], BITEXT)
    return released


@contextmanager
def parquet_writer(path: Path, columns: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Open a Parquet file of that schema; it appears, whole, when the block ends."""
    with (
        atomic_path(path) as temporary,
        pq.ParquetWriter(
            temporary, columns, compression="zstd", compression_level=ZSTD_LEVEL
        ) as writer,
    ):
        yield writer


def export(
    shards: list[Path],
    output: Path,
    best: int,
    language: str,
    languages: Mapping[str, str] | None = None,
    written: Mapping[str, str] | None = None,
) -> None:
    """Stream shards of the select stage into the two files of a release and their record.

    Memory holds one row group. The record of both files, `paraphrases.json`, is written last.

    Args:
        shards: of the select stage.
        output: the folder.
        best: how many paraphrases of a reference at most.
        language: of the references (ISO 639).
        languages: for a merge, the source language of each run by its name.
        written: what to say of the sources of corpora that a model wrote, by corpus.

    Raises:
        InputError: a shard is damaged, or `best` is below 1.
    """
    if best < 1:
        raise InputError(f"best: {best} is below 1; no paraphrase would be exported")
    merged, marked = languages is not None, bool(written)
    columns = [*COLUMNS, "corpus"] if merged or marked else COLUMNS
    columns_out = schema(merged, marked)
    total = sum(verify(path)["rows_out"] for path in shards)
    rows = progress(
        chain.from_iterable(read_rows(path, ParaphrasesRow, columns) for path in shards),
        total,
        "export",
    )
    tsv, parquet = output / "paraphrases.tsv.zst", output / "paraphrases.parquet"
    paraphrases = 0
    with zstd_writer(tsv) as lines, parquet_writer(parquet, columns_out) as tables:
        lines.write(header(best, merged, marked) + "\n")
        while group := list(islice(rows, GROUP_ROWS)):
            lines.writelines(tsv_line(row, best, language, merged, written) + "\n" for row in group)
            released = [parquet_row(row, best, language, languages, written) for row in group]
            tables.write_table(pa.Table.from_pylist(released, schema=columns_out))
            paraphrases += sum(len(row["paraphrases"]) for row in released)
    write_record(
        parquet, total, total, {}, extra={"paraphrases": paraphrases}, files=[tsv, parquet]
    )


def release_corpus(config: dict[str, Any], folder: Path, shards: int, output: Path) -> None:
    """Write the released corpus of one system.

    Args:
        config: `best`, and `languages`, both codes; for a merge `runs`, each with its `name` and
            `source`; `written_sources` where there are any.
        folder: of the select stage.
    """
    runs = config.get("runs")
    languages = None if runs is None else {of_run["name"]: of_run["source"] for of_run in runs}
    written = config.get("written_sources")
    language = config["languages"]["reference"]
    export(shard_paths(folder, shards), output, config["best"], language, languages, written)


main = command(release_corpus, __name__)
