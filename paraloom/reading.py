"""Reading a released corpus as tables."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from paraloom.requests import ArgumentError, require_count, require_path
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.plan.run.run_folders import run_folder

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

FILE = "paraphrases.parquet"
# Columns of a frame, by their names in the file: those of a reference, and of a paraphrase.
_OF_REFERENCE = ("id", "reference")
_OF_PARAPHRASE = ("text", "score", "forward_nll", "backward_nll", "probability")
COLUMNS = (*_OF_REFERENCE, "rank", *_OF_PARAPHRASE)


@overload
def read(
    run: str | Path,
    system: str | None = None,
    columns: Sequence[str] | None = None,
    batches: None = None,
) -> "pd.DataFrame": ...


@overload
def read(
    run: str | Path,
    system: str | None = None,
    columns: Sequence[str] | None = None,
    *,
    batches: int,
) -> "Iterator[pd.DataFrame]": ...


def read(
    run: str | Path,
    system: str | None = None,
    columns: Sequence[str] | None = None,
    batches: int | None = None,
) -> "pd.DataFrame | Iterator[pd.DataFrame]":
    """Return a released corpus as a frame of pandas: a row for each paraphrase, best first.

    A reference without paraphrases has one row, of rank 0 and without a text.

    Args:
        run: name or folder of a finished run; or a folder of a release or of one of its systems; or
            a file `paraphrases.parquet`.
        system: which one, where the run has several.
        columns: of the frame, in this order; None: all of them. They are `id`, `reference`, `rank`
            (1 is best), `text`, `score` (the sum of both NLLs, in nats per token; lower is better),
            `forward_nll`, `backward_nll` and `probability` (of the judge; NaN without one).
        batches: None: one frame; else an iterator of frames of so many references each, for
            corpora that do not fit into memory.

    Returns:
        The frame, or the iterator of frames.

    Raises:
        ArgumentError: there is no such column, or an argument can't be.
        InputError: there is no such corpus, or it can't be read.
    """
    named: Any = COLUMNS if columns is None else columns
    if isinstance(named, str) or not isinstance(named, Sequence) or not named:
        raise ArgumentError(f"columns is {named!r:.40}, and must be a list such as ['text']")
    wanted = list(named)
    for name in wanted:
        if name not in COLUMNS:
            raise ArgumentError(
                f"columns: there is no column {name!r:.40}{suggestion(str(name), list(COLUMNS))}"
            )
    if batches is not None:
        batches = require_count("batches", batches, most=None)
    if system is not None and not isinstance(system, str):
        raise ArgumentError(f"system is {system!r:.40}, and must be a name")
    path = corpus_file(require_path("run", run), system)
    frames = _frames(path, wanted, batches or 1 << 16)
    if batches is not None:
        return frames
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def corpus_file(run: Path, system: str | None = None) -> Path:
    """Return the Parquet file of a released corpus.

    Raises:
        InputError: there is none, or several and none is chosen, or only another one.
    """
    if run.is_file():
        return _only(run, system)
    folder = run_folder(run)
    for place in (folder / "release", folder):
        if (place / FILE).is_file():
            return _only(place / FILE, system)
        systems = sorted(path.parent.name for path in place.glob(f"*/{FILE}"))
        if not systems:
            continue
        if system is None and len(systems) > 1:
            raise InputError(f"{run} has several systems; name one: {', '.join(systems)}")
        if system is not None and system not in systems:
            raise InputError(f"{run} has no system {system!r}{suggestion(system, systems)}")
        return place / (system or systems[0]) / FILE
    raise InputError(
        f"{run}: no {FILE} there; name a finished run below runs/, the folder of a release, or the "
        "file itself"
    )


def _only(path: Path, system: str | None) -> Path:
    """Return the file of one system, whose folder has its name.

    Raises:
        InputError: another system is asked for.
    """
    if system not in (None, path.absolute().parent.name):
        raise InputError(
            f"{path} is of one system, and its folder is not called {system!r}; leave system out"
        )
    return path


def _frames(path: Path, columns: list[str], references: int) -> "Iterator[pd.DataFrame]":
    """Yield the frames of a file, each of so many references; one without rows if it has none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            if missing := {*_OF_REFERENCE, "paraphrases"} - {*file.schema_arrow.names}:
                raise InputError(
                    f"{path} is no released corpus: it lacks {', '.join(sorted(missing))}"
                )
            kind = file.schema_arrow.field("paraphrases").type
            element = getattr(kind, "value_type", kind)
            known = {field.name for field in element} if pa.types.is_struct(element) else set()
            if missing := set(_OF_PARAPHRASE).intersection(columns) - known:
                raise InputError(
                    f"{path} is no released corpus: its paraphrases lack "
                    f"{', '.join(sorted(missing))}"
                )
            needed = [*(name for name in _OF_REFERENCE if name in columns), "paraphrases"]
            if not file.metadata.num_rows:
                yield _frame(pa.RecordBatch.from_pylist([], file.schema_arrow), columns)
            for batch in file.iter_batches(references, columns=needed):
                yield _frame(batch, columns)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path} can't be read as Parquet ({error}); get it again") from error


def _frame(batch: "pa.RecordBatch", columns: list[str]) -> "pd.DataFrame":
    """Return references with lists of paraphrases as a frame with a row for each paraphrase."""
    import pandas as pd
    import pyarrow.compute as pc

    lists = batch.column("paraphrases")
    paraphrases = pc.list_flatten(lists)
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    # A row more where there are no paraphrases.
    rows = np.maximum(counts, 1)
    reference = np.repeat(np.arange(len(counts)), rows)
    rank = np.arange(len(reference)) - np.repeat(np.cumsum(rows) - rows, rows) + 1
    rank[np.repeat(counts == 0, rows)] = 0
    there = rank > 0
    values: dict[str, object] = {}
    for name in columns:
        if name == "rank":
            values[name] = rank
        elif name in _OF_REFERENCE:
            values[name] = batch.column(name).to_numpy(zero_copy_only=False)[reference]
        else:
            column = pc.struct_field(paraphrases, name).to_numpy(zero_copy_only=False)
            filled = np.full(len(rank), None if name == "text" else np.nan, column.dtype)
            filled[there] = column
            values[name] = filled
    return pd.DataFrame(values, columns=columns)
