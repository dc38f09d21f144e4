"""Collect the rows of a run's transfer tasks in one table."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.parquet import TableWriter, read_rows
from workflow_scripts.core.files.rows import TransferRow
from workflow_scripts.stages.transfer.senteval_readers import Row, TaskData, read_task, repetitions
from workflow_scripts.stages.transfer.tasks import TASKS, chosen, missing


def described(data: TaskData) -> dict[str, Any]:
    """Return what is known of a task: rows by part, repetitions, files that are not UTF-8."""
    return {
        "rows": {part: len(rows) for part, rows in data.parts.items()},
        **repetitions(data),
        "latin1": data.latin1,
    }


def collect(config: dict[str, Any], output: Path, inputs: dict[str, str] | None = None) -> None:
    """Collect the rows of a run's transfer tasks in one table, in SentEval's order.

    Args:
        config: `data` (folders in SentEval's layout) and `tasks` (names).
        output: Parquet file, beside which its record is written.

    Raises:
        InputError: see `unchanged`, `tasks.chosen` and `senteval_readers.read_task`.
    """
    with unchanged(inputs or {}):
        _collect(config, output)


def _collect(config: dict[str, Any], output: Path) -> None:
    files = chosen(config["data"], config["tasks"])
    tasks = {}
    with TableWriter(output, TransferRow) as table:
        for name, parts in files.items():
            data = read_task(TASKS[name], parts)
            tasks[name] = described(data)
            for part, rows in data.parts.items():
                for row in rows:
                    table.write({"task": name, "part": part, **row._asdict()})
    written = table.rows_written
    extra = {"tasks": tasks, "missing": missing(tasks)}
    write_record(output, written, written, {}, extra)


def read_collected(path: Path) -> list[TaskData]:
    """Return the tasks of a table that `collect` wrote, after checking it."""
    record = verify(path)
    by_task: dict[str, dict[str, list[Row]]] = {}
    for row in read_rows(path, TransferRow):
        rows = by_task.setdefault(row["task"], {}).setdefault(row["part"], [])
        rows.append(Row(row["label"], row["first"], row["second"]))
    known = record["extra"]["tasks"]
    return [TaskData(name, parts, known[name]["latin1"]) for name, parts in by_task.items()]


main = command(collect, __name__)
