"""The stage's section of the report."""

import heapq
from collections import Counter
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.parquet import read_batches, read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.seeding import fraction
from workflow_scripts.plan.reference_groups import OTHER, group_of
from workflow_scripts.stages.select.methods import REASONS

SAMPLE = 50
COLUMNS = ["id", "source", "reference", "corpus", "paraphrases", "reason"]


class SampledReference(TypedDict):
    """A reference of the report, with the row of each system by the system's name."""

    id: str
    source: str
    reference: str
    systems: dict[str, ParaphrasesRow]


def references(run: FinishedRun) -> dict[str, Any]:
    """Return some references with their paraphrases by every system."""
    samples = {
        system: sample_references(run.shards("select", system), run.config["seed"])
        for system in run.instances("select")
    }
    blocks = run.config["systems"]
    groups = run.manifest("evaluate", next(iter(samples)))["config"]["groups"]
    counted = reasons(run)
    later = sorted(set().union(*counted.values()) - {*REASONS, "selected"})
    return {
        "samples": samples_by_group(samples, groups),
        "languages": run.config["languages"],
        "merges": [name for name, block in blocks.items() if "merge" in block],
        "judged": [name for name, block in blocks.items() if block["select"].get("judge")],
        "reasons": counted,
        "reason_names": [*REASONS, *later, "selected"],
    }


def reasons(run: FinishedRun) -> dict[str, Counter[str]]:
    """Return for each system how many candidates were selected, or what kept them out."""
    by_system: dict[str, Counter[str]] = {}
    for system in run.instances("select"):
        counts: Counter[str] = Counter()
        for record in run.manifest("select", system)["parts"].values():
            counts.update(record.get("extra", {}).get("candidates", {}))
        by_system[system] = counts
    return by_system


def sample_references(shards: list[Path], seed: int) -> list[ParaphrasesRow]:
    """Return `COLUMNS` of fifty rows, drawn by their ids, in flat memory.

    Systems with the same references give the same sample.
    """
    for path in shards:
        verify(path)
    ids = (row["id"] for path in shards for row in read_rows(path, ParaphrasesRow, ["id"]))
    chosen = heapq.nsmallest(
        SAMPLE,
        progress(ids, desc="report, references"),
        key=lambda identifier: fraction(seed, "report", identifier),
    )
    rows: dict[str, ParaphrasesRow] = {}
    for path in shards:
        for batch in read_batches(path, ParaphrasesRow, COLUMNS):
            mask = pc.is_in(batch.column("id"), value_set=pa.array(chosen, pa.string()))
            rows.update((row["id"], row) for row in batch.filter(mask).to_pylist())
    return [rows[identifier] for identifier in chosen]


def samples_by_group(
    samples: dict[str, list[ParaphrasesRow]], groups: dict[str, list[str]]
) -> dict[str, list[SampledReference]]:
    """Return the sampled references of each group, with each system's row.

    Args:
        samples: the rows of each system.
        groups: the corpora of each group; references of no group are in `OTHER`.

    Returns:
        The references by group; a group without any is left out.
    """
    membership = group_of(groups)
    result: dict[str, dict[str, SampledReference]] = {name: {} for name in [*groups, OTHER]}
    for system, rows in samples.items():
        for row in rows:
            new: SampledReference = {
                "id": row["id"],
                "source": row["source"],
                "reference": row["reference"],
                "systems": {},
            }
            entries = result[membership.get(row["corpus"], OTHER)]
            entries.setdefault(row["id"], new)["systems"][system] = row
    return {group: list(sampled.values()) for group, sampled in result.items() if sampled}
