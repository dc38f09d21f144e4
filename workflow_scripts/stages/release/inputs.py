"""What datasheet, report and summary show of the stages, read from their manifests."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.statistics.frequency import most_frequent


def described_stages(run: FinishedRun) -> list[dict[str, Any]]:
    """Return what `stages` returns for the described units of a run."""
    return stages(run.described(), run.rows)


def stages(manifests: Iterable[dict[str, Any]], rows: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what is shown of each unit, in the order given.

    Args:
        manifests: of the units.
        rows: what a row of each stage is, by the stage's name, such as `pairs`.

    Returns:
        Dicts of `label`, `stage`, `rows` (what a row is), `rows_in`, `rows_out`, `rejected` (by
        reason, most frequent first), `counts` (the other counts in its records), `config`, `name`,
        `version` and `tools`.
    """
    return [_stage(manifest, rows[manifest["stage"]]) for manifest in manifests]


def _stage(manifest: dict[str, Any], rows: str) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for record in manifest["parts"].values():
        counts.update(dict(_integers(record.get("extra", {}))))
    return {
        "label": " / ".join(filter(None, (manifest["stage"], manifest["instance"]))),
        "stage": manifest["stage"],
        "rows": rows,
        "rows_in": manifest["rows_in"],
        "rows_out": manifest["rows_out"],
        "rejected": most_frequent(manifest["rejected"]),
        "counts": dict(sorted(counts.items())),
        "config": manifest["config"],
        "name": manifest["name"],
        "version": manifest.get("version"),
        "tools": manifest["tools"],
    }


def _integers(value: Any, path: tuple[str, ...] = ()) -> Iterable[tuple[str, int]]:
    """Yield the integers in nested dicts, each with its path: the counts, which can be added."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _integers(item, (*path, str(key)))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield " / ".join(path), value
