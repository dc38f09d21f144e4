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

SAMPLE = 12
COLUMNS = ["id", "source", "reference", "corpus", "paraphrases", "reason"]


class SampledReference(TypedDict):
    """A reference of the report, with the row of each system by the system's name."""

    id: str
    group: str
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
    return {
        "samples": together(samples, groups),
        "languages": run.config["languages"],
        "merges": [name for name, block in blocks.items() if "merge" in block],
        "judged": [name for name, block in blocks.items() if block["select"].get("judge")],
    }


def candidates(run: FinishedRun) -> dict[str, Any]:
    """Return what became of the candidates of every system."""
    counted = reasons(run)
    later = sorted(set().union(*counted.values()) - {*REASONS, "selected"})
    return {"reasons": counted, "reason_names": [*REASONS, *later, "selected"]}


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
    """Return `COLUMNS` of a dozen rows, drawn by their ids, in flat memory.

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


def together(
    samples: dict[str, list[ParaphrasesRow]], groups: dict[str, list[str]]
) -> list[SampledReference]:
    """Return the sampled references, each with its group and each system's row.

    Args:
        samples: the rows of each system.
        groups: the corpora of each group; references of no group are in `OTHER`.
    """
    membership = group_of(groups)
    entries: dict[str, SampledReference] = {}
    for system, rows in samples.items():
        for row in rows:
            new: SampledReference = {
                "id": row["id"],
                "group": membership.get(row["corpus"], OTHER),
                "source": row["source"],
                "reference": row["reference"],
                "systems": {},
            }
            entries.setdefault(row["id"], new)["systems"][system] = row
    return list(entries.values())
